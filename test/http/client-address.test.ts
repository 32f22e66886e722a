import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { createClientAddresses } from '../../src/http/client-address.ts';
import { rateLimit } from '../../src/http/rate-limit.ts';
import { createLoggedAddresses } from '../../src/observability/logged-address.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';

type Peer = Record<'remoteAddress' | 'localAddress', string | undefined>;

/** The addresses of a Unix socket. */
const unix: Peer = { remoteAddress: undefined, localAddress: undefined };
/** The addresses of a TCP connection that its client has reset. */
const gone: Peer = { remoteAddress: undefined, localAddress: '192.0.2.99' };

function requestFrom(peer: Peer | string, forwardedFor?: string): IncomingMessage {
  const socket = new Socket();
  const { remoteAddress, localAddress } =
    typeof peer === 'string' ? { remoteAddress: peer, localAddress: '192.0.2.99' } : peer;
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  Object.defineProperty(socket, 'localAddress', { value: localAddress });
  const request = new IncomingMessage(socket);
  if (forwardedFor !== undefined) request.headers['x-forwarded-for'] = forwardedFor;
  return request;
}

describe('the address of a client', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48'];
  const addressOf = (peer: Peer | string, forwardedFor?: string, trusted: string[] = []) =>
    createClientAddresses(trusted).clientNetwork(requestFrom(peer, forwardedFor));

  it('is the address of its connection if no proxy is trusted, whatever X-Forwarded-For claims', () => {
    expect(addressOf('192.0.2.1', '198.51.100.7')).to.equal('192.0.2.1');
    expect(addressOf('127.0.0.1', '198.51.100.7')).to.equal('127.0.0.1');
    expect(addressOf('192.0.2.1', '198.51.100.7', proxies)).to.equal('192.0.2.1');
  });

  it('is what the nearest trusted proxy tells, not what the client had told that', () => {
    expect(addressOf('10.1.1.1', '192.0.2.1', proxies)).to.equal('192.0.2.1');
    expect(addressOf('10.1.1.1', '198.51.100.7, 192.0.2.1', proxies)).to.equal('192.0.2.1');
    expect(addressOf('10.1.1.1', '10.2.2.2, 192.0.2.1', proxies)).to.equal('192.0.2.1');
  });

  it('is found behind several trusted proxies', () => {
    const chain = '203.0.113.9, 192.0.2.1, 10.2.2.2, 2001:db8:ffff::5';
    expect(addressOf('10.1.1.1', chain, proxies)).to.equal('192.0.2.1');
  });

  it('is found after thousands of addresses that the client has made up', () => {
    const chain = `${'10.3.3.3, '.repeat(6000)}192.0.2.1, 10.2.2.2`;
    expect(addressOf('10.1.1.1', chain, proxies)).to.equal('192.0.2.1');
    expect(addressOf('10.1.1.1', '10.3.3.3, '.repeat(6000), proxies)).to.equal('10.3.3.3');
  });

  it('is the proxy’s if the proxy sends no valid address', () => {
    expect(addressOf('10.1.1.1', undefined, proxies)).to.equal('10.1.1.1');
    for (const nonsense of ['', 'unknown', '_hidden', '192.0.2.1, x', '999.1.1.1', ',', ', ']) {
      expect(addressOf('10.1.1.1', nonsense, proxies), nonsense).to.equal('10.1.1.1');
    }
  });

  it('is read with or without a port', () => {
    expect(addressOf('10.1.1.1', '192.0.2.1:50123', proxies)).to.equal('192.0.2.1');
    const networks = ['[2001:db8::1]:50123', '[2001:db8::1]', '2001:db8::1'].map((told) =>
      addressOf('10.1.1.1', told, proxies),
    );
    expect(new Set(networks).size).to.equal(1);
  });

  it('is found behind trusted proxies that add ports, with and without brackets', () => {
    const ports = ['10.2.2.2:44980', '[2001:db8:ffff::5]:44980', '[2001:db8:ffff::5]', '[::ffff:10.2.2.2]:443'];
    const bare = ['2001:db8:ffff:0:0:0:0:5:44980', '0:0:0:0:0:ffff:10.2.2.2:44980'];
    for (const told of [...ports, ...bare]) {
      expect(addressOf('10.1.1.1', `192.0.2.1:50123, ${told}`, proxies), told).to.equal('192.0.2.1');
      expect(addressOf('10.1.1.1', `198.51.100.7, 192.0.2.1, ${told}, 10.3.3.3:1`, proxies), told).to.equal(
        '192.0.2.1',
      );
    }
  });

  it('is not what a client claims in the place of a port', () => {
    for (const nonsense of ['192.0.2.1:', '192.0.2.1:x', '192.0.2.1:1:2', '[192.0.2.1', '[]:1', '192.0.2.1:123456']) {
      expect(addressOf('10.1.1.1', nonsense, proxies), nonsense).to.equal('10.1.1.1');
    }
  });

  it('is the /64 network of an IPv6 address', () => {
    const one = addressOf('2001:db8:1:2::1');
    expect(addressOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).to.equal(one);
    expect(addressOf('2001:0db8:0001:0002::')).to.equal(one);
    expect(addressOf('2001:db8:1:3::1')).to.not.equal(one);
    expect(addressOf('fe80::1%eth0')).to.equal(addressOf('fe80::2'));
  });

  it('is the IPv4 address inside an IPv4-mapped IPv6 address, also for trusted proxies', () => {
    expect(addressOf('::ffff:192.0.2.1')).to.equal('192.0.2.1');
    expect(addressOf('::ffff:192.0.2.2')).to.not.equal('192.0.2.1');
    expect(addressOf('::ffff:10.1.1.1', '::ffff:192.0.2.1', proxies)).to.equal('192.0.2.1');
  });

  it('is the IPv4 address that a translator to IPv6 has put into its own', () => {
    expect(addressOf('64:ff9b::c000:201')).to.equal('192.0.2.1');
    expect(addressOf('64:ff9b::c000:202')).to.equal('192.0.2.2');
    expect(addressOf('::ffff:0:c000:201')).to.equal('192.0.2.1');
  });

  it('is the same for all clients of a Unix socket', () => {
    expect(addressOf(unix, '192.0.2.1', proxies)).to.equal('');
  });

  it('is what a proxy on a trusted Unix socket sends', () => {
    expect(addressOf(unix, '192.0.2.1', ['unix'])).to.equal('192.0.2.1');
    expect(addressOf(unix, '198.51.100.7, 192.0.2.1', ['unix'])).to.equal('192.0.2.1');
    expect(addressOf(unix, '192.0.2.1, 10.2.2.2', ['unix', ...proxies])).to.equal('192.0.2.1');
    expect(addressOf(unix, undefined, ['unix'])).to.equal('');
    expect(addressOf(unix, 'nonsense', ['unix'])).to.equal('');
  });

  it('is not what a client sends over TCP if only the Unix socket is trusted', () => {
    expect(addressOf('192.0.2.1', '198.51.100.7', ['unix'])).to.equal('192.0.2.1');
    expect(addressOf(gone, '198.51.100.7', ['unix'])).to.equal('');
  });
});

describe('an address that is known to be the client’s own', () => {
  const clientNetworkUnlessProxy = (peer: Peer | string, forwardedFor?: string, trusted: string[] = []) =>
    createClientAddresses(trusted).clientNetworkUnlessProxy(requestFrom(peer, forwardedFor));

  it('is the address of a connection from another machine', () => {
    expect(clientNetworkUnlessProxy('192.0.2.1', '198.51.100.7')).to.equal('192.0.2.1');
    expect(clientNetworkUnlessProxy('192.0.2.1', '198.51.100.7', ['10.0.0.0/8'])).to.equal('192.0.2.1');
  });

  it('is what a trusted proxy sends', () => {
    expect(clientNetworkUnlessProxy('127.0.0.1', '192.0.2.1', ['127.0.0.1'])).to.equal('192.0.2.1');
    expect(clientNetworkUnlessProxy('10.1.1.1', '192.0.2.1', ['10.0.0.0/8'])).to.equal('192.0.2.1');
    expect(clientNetworkUnlessProxy(unix, '192.0.2.1', ['unix'])).to.equal('192.0.2.1');
  });

  it('is never a loopback address, because a proxy may use it', () => {
    for (const loopback of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(clientNetworkUnlessProxy(loopback, '192.0.2.1'), loopback).to.equal(undefined);
      expect(clientNetworkUnlessProxy('10.1.1.1', loopback, ['10.0.0.0/8']), loopback).to.equal(undefined);
    }
  });

  it('is never the address of a trusted proxy that names no client', () => {
    expect(clientNetworkUnlessProxy('10.1.1.1', undefined, ['10.0.0.0/8'])).to.equal(undefined);
    expect(clientNetworkUnlessProxy('10.1.1.1', 'nonsense', ['10.0.0.0/8'])).to.equal(undefined);
    expect(clientNetworkUnlessProxy('10.1.1.1', '10.2.2.2', ['10.0.0.0/8'])).to.equal(undefined);
  });

  it('is not known on a Unix socket that is not trusted or names no client', () => {
    expect(clientNetworkUnlessProxy(unix, '192.0.2.1')).to.equal(undefined);
    expect(clientNetworkUnlessProxy(unix, undefined, ['unix'])).to.equal(undefined);
  });

  it('is the same for all clients that have closed the connection, so that they share a limit', () => {
    expect(clientNetworkUnlessProxy(gone)).to.equal('');
    expect(clientNetworkUnlessProxy(gone, '192.0.2.1', ['unix'])).to.equal('');
  });
});

describe("the client's address in the log", () => {
  const trustedProxies = ['10.0.0.0/8'];
  const whole = createLoggedAddresses('whole', trustedProxies);
  const cut = createLoggedAddresses('cut', trustedProxies);

  const shown = {
    '192.0.2.7': ['192.0.2.7', '192.0.2.0/24'],
    '::ffff:192.0.2.7': ['192.0.2.7', '192.0.2.0/24'],
    '2001:db8:1:2:3:4:5:6': ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    '2001:0db8:0001::1': ['2001:db8:1::1', '2001:db8:1::/48'],
    'fe80::1%eth0': ['fe80::1', 'fe80::/48'],
    '::1': ['::1', '::/48'],
  };
  for (const [address, [inFull, network]] of Object.entries(shown)) {
    it(`is ${inFull} or ${network} for ${address}`, () => {
      expect(whole.client(requestFrom(address))).to.equal(inFull);
      expect(cut.client(requestFrom(address))).to.equal(network);
    });
  }

  it('is what a trusted proxy sends; other clients cannot set it', () => {
    expect(whole.client(requestFrom('10.1.1.1', '203.0.113.9, 192.0.2.7'))).to.equal('192.0.2.7');
    expect(whole.client(requestFrom('192.0.2.7', '203.0.113.9'))).to.equal('192.0.2.7');
  });

  it('is never a part of X-Forwarded-For that is not an address', () => {
    for (const nonsense of ['', 'a"b', '<script>', '1.2.3', '192.0.2.7\n', 'secret']) {
      expect(whole.client(requestFrom('10.1.1.1', nonsense)), nonsense).to.match(/^[\d.]+$/);
    }
  });

  it('is not known behind a Unix socket', () => {
    expect(whole.client(requestFrom(unix))).to.equal(undefined);
  });

  it('is the address of the peer for a request that cannot be read, unless the peer is a proxy', () => {
    expect(whole.peer('::ffff:192.0.2.7')).to.equal('192.0.2.7');
    expect(cut.peer('192.0.2.7')).to.equal('192.0.2.0/24');
    expect(whole.peer('10.1.1.1')).to.equal(undefined);
    expect(whole.peer(undefined)).to.equal(undefined);
  });

  it('is left out by default', () => {
    const none = createLoggedAddresses('off', trustedProxies);
    expect(none.client(requestFrom('192.0.2.7'))).to.equal(undefined);
    expect(none.peer('192.0.2.7')).to.equal(undefined);
  });
});

describe('the counters of the rate limit', () => {
  it('are at most 65,536, for any number of clients', async () => {
    const limit = rateLimit(1, ['unix'], { now: Date.now });
    const request = requestFrom(unix);
    const context = new Koa().createContext(request, Object.create(null));
    let refused = 0;
    for (let client = 0; client < 70_000; client += 1) {
      request.headers['x-forwarded-for'] = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
      if ((await outcomeOf(limit(context, async () => {}))) === 'rate_limited') refused += 1;
    }
    expect(refused).to.be.at.least(70_000 - 65_536);
  });
});
