import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { loggedAddresses } from '../../src/http/client-address.ts';

const trustedProxies = ['10.0.0.0/8'];

function requestFrom(remoteAddress: string | undefined, forwardedFor?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const request = new IncomingMessage(socket);
  if (forwardedFor !== undefined) request.headers['x-forwarded-for'] = forwardedFor;
  return request;
}

describe("the client's address in the log", () => {
  const whole = loggedAddresses({ trustedProxies, logClientAddress: 'whole' });
  const cut = loggedAddresses({ trustedProxies, logClientAddress: 'cut' });

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
      expect(whole.of(requestFrom(address))).to.equal(inFull);
      expect(cut.of(requestFrom(address))).to.equal(network);
    });
  }

  it('is what a trusted proxy sends; other clients cannot set it', () => {
    expect(whole.of(requestFrom('10.1.1.1', '203.0.113.9, 192.0.2.7'))).to.equal('192.0.2.7');
    expect(whole.of(requestFrom('192.0.2.7', '203.0.113.9'))).to.equal('192.0.2.7');
  });

  it('is never a part of X-Forwarded-For that is not an address', () => {
    for (const nonsense of ['', 'a"b', '<script>', '1.2.3', '192.0.2.7\n', 'secret']) {
      expect(whole.of(requestFrom('10.1.1.1', nonsense)), nonsense).to.match(/^[\d.]+$/);
    }
  });

  it('is not known behind a Unix socket', () => {
    expect(whole.of(requestFrom(undefined))).to.equal(undefined);
  });

  it('is that of the peer for a request that cannot be read, unless the peer is a proxy', () => {
    expect(whole.ofPeer('::ffff:192.0.2.7')).to.equal('192.0.2.7');
    expect(cut.ofPeer('192.0.2.7')).to.equal('192.0.2.0/24');
    expect(whole.ofPeer('10.1.1.1')).to.equal(undefined);
    expect(whole.ofPeer(undefined)).to.equal(undefined);
  });

  it('is left out by default', () => {
    const none = loggedAddresses({ trustedProxies, logClientAddress: 'off' });
    expect(none.of(requestFrom('192.0.2.7'))).to.equal(undefined);
    expect(none.ofPeer('192.0.2.7')).to.equal(undefined);
  });
});
