import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { clientAddressBehind } from '../../src/http/client-address.ts';

function addressOf(
  remoteAddress: string | undefined,
  forwardedFor?: string,
  trustedProxies: readonly string[] = [],
): string {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const request = new IncomingMessage(socket);
  if (forwardedFor !== undefined) request.headers['x-forwarded-for'] = forwardedFor;
  return clientAddressBehind(trustedProxies)(request);
}

describe('the address of a client', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48'];

  it('is that of its connection, whatever X-Forwarded-For claims, where no proxy is trusted', () => {
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

  it('is the proxy’s where that tells none, or what is none', () => {
    expect(addressOf('10.1.1.1', undefined, proxies)).to.equal('10.1.1.1');
    for (const nonsense of [
      '',
      'unknown',
      '_hidden',
      '192.0.2.1, nonsense',
      '999.1.1.1',
      ',',
      ', ',
    ]) {
      expect(addressOf('10.1.1.1', nonsense, proxies), nonsense).to.equal('10.1.1.1');
    }
  });

  it('is told with or without a port', () => {
    expect(addressOf('10.1.1.1', '192.0.2.1:50123', proxies)).to.equal('192.0.2.1');
    const networks = ['[2001:db8::1]:50123', '[2001:db8::1]', '2001:db8::1'].map((told) =>
      addressOf('10.1.1.1', told, proxies),
    );
    expect(new Set(networks).size).to.equal(1);
  });

  it('is the /64 network of an IPv6 address', () => {
    const one = addressOf('2001:db8:1:2::1');
    expect(addressOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).to.equal(one);
    expect(addressOf('2001:0db8:0001:0002::')).to.equal(one);
    expect(addressOf('2001:db8:1:3::1')).to.not.equal(one);
    expect(addressOf('fe80::1%eth0')).to.equal(addressOf('fe80::2'));
  });

  it('is the IPv4 address where IPv6 wraps one, a trusted proxy’s too', () => {
    expect(addressOf('::ffff:192.0.2.1')).to.equal('192.0.2.1');
    expect(addressOf('::ffff:192.0.2.2')).to.not.equal('192.0.2.1');
    expect(addressOf('::ffff:10.1.1.1', '::ffff:192.0.2.1', proxies)).to.equal('192.0.2.1');
  });

  it('is one for all who come through a Unix socket', () => {
    expect(addressOf(undefined, '192.0.2.1', proxies)).to.equal('');
  });
});
