import { expect } from 'chai';
import { prettyLine } from '../../src/observability/pretty-log.ts';

/** The text of this line for people, without the time. */
function read(line: Readonly<Record<string, unknown>>): string {
  const whole = { level: 'info', time: '2026-01-02T03:04:05.678Z', ...line };
  const text = prettyLine(JSON.stringify(whole)).replace(/^\[\d\d:\d\d:\d\d\] /, '');
  return text.trimEnd();
}

describe('the log for people', () => {
  it('shows the outcome of a request and of its call', () => {
    const line = { msg: 'request', requestId: 'an-id', method: 'GET', route: '/api/user' };
    const provider = { endpoint: 'user', outcome: 'answered', status: 200, durationMs: 2 };
    expect(read({ ...line, status: 200, durationMs: 3, outcome: 'ok', provider })).to.equal(
      'INFO: GET /api/user 200 ok in 3 ms\n  ' + "provider's user endpoint: 200 in 2 ms",
    );
  });

  it('shows why a request failed, and its request ID', () => {
    const provider = {
      endpoint: 'user',
      outcome: 'provider_unreachable',
      error: 'CERT_HAS_EXPIRED',
      durationMs: 2,
    };
    const text = read({
      level: 'error',
      msg: 'request',
      requestId: 'an-id',
      method: 'GET',
      route: null,
      status: 502,
      outcome: 'provider_unreachable',
      durationMs: 3,
      provider,
      stack: 'at somewhere',
    });
    expect(text.split('\n  ')).to.deep.equal([
      'ERROR: GET (no such address) 502 provider_unreachable in 3 ms',
      "provider's user endpoint: provider_unreachable (CERT_HAS_EXPIRED) in 2 ms",
      'request ID: an-id',
      'at somewhere',
    ]);
  });

  it('shows the error code of the provider', () => {
    const provider = { endpoint: 'token', outcome: 'answered', status: 400, durationMs: 2 };
    const text = read({
      level: 'warn',
      msg: 'request',
      requestId: 'an-id',
      method: 'GET',
      route: '/auth/provider/callback',
      status: 400,
      outcome: 'code_refused',
      durationMs: 3,
      provider,
      providerError: 'invalid_grant',
    });
    expect(text.split('\n  ')).to.deep.equal([
      'WARN: GET /auth/provider/callback 400 code_refused in 3 ms',
      "provider's token endpoint: 400 in 2 ms",
      "provider's error code: invalid_grant",
      'request ID: an-id',
    ]);
  });

  it('shows the addresses of the relay and its metrics', () => {
    const [address, metricsAddress] = ['http://127.0.0.1:8000', 'http://127.0.0.1:9000'];
    const text = read({ msg: 'listening', address, metricsAddress, callbackUrl: 'https://a/b' });
    expect(text).to.contain(address).and.contain(metricsAddress).and.contain('https://a/b');
  });

  it('shows why discovery failed', () => {
    const text = read({
      msg: 'provider discovery',
      outcome: 'failed',
      explanation: 'the issuer cannot be reached',
      error: 'ENOTFOUND',
      retryIn: 4000,
    });
    expect(text).to.equal(
      'INFO: provider discovery failed: the issuer cannot be reached (ENOTFOUND); next attempt in 4 s',
    );
  });

  it('shows all fields of other lines', () => {
    expect(read({ msg: 'not reloaded', faults: ['one fault', 'another'] })).to.equal(
      'INFO: not reloaded\n  one fault\n  another',
    );
    expect(read({ msg: 'systemd-notify has failed', error: 'ENOENT' })).to.equal(
      'INFO: systemd-notify has failed\n  error: ENOENT',
    );
  });
});
