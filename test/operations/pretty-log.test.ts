import { expect } from 'chai';
import { formatForPeople } from '../../src/observability/pretty-log.ts';

/** The text of this line for people, without the time. */
function read(line: Readonly<Record<string, unknown>>): string {
  const whole = { level: 'info', time: '2026-01-02T03:04:05.678Z', ...line };
  const text = formatForPeople(JSON.stringify(whole)).replace(/^\[\d\d:\d\d:\d\d\] /, '');
  return text.trimEnd();
}

const request = { msg: 'request', requestId: 'an-id', method: 'GET', durationMs: 3 };
const lookup = { action: 'user', route: '/api/user' };

describe('the log for people', () => {
  it('shows the outcome of a request and of its call', () => {
    const line = { ...request, ...lookup, status: 200, outcome: 'ok' };
    const provider = { endpoint: 'user', outcome: 'answered', status: 200, durationMs: 2 };
    expect(read({ ...line, provider })).to.equal(
      'INFO: GET /api/user 200 ok in 3 ms\n  the user record\n  ' + "provider's user endpoint: 200 in 2 ms",
    );
  });

  it('shows what a request led to, and for which front end', () => {
    const line = { msg: 'request', method: 'GET', outcome: 'ok', durationMs: 3 };
    const shown = (more: Readonly<Record<string, unknown>>) =>
      read({ ...line, ...more })
        .split('\n  ')
        .slice(1);
    const provider = { endpoint: 'token', outcome: 'answered', status: 200, durationMs: 2 };
    const call = "provider's token endpoint: 200 in 2 ms";
    const start = { action: 'start', route: '/auth/provider', status: 307 };
    const callback = { action: 'callback', route: '/auth/provider/callback', status: 307 };
    const token = { method: 'POST', action: 'token', status: 200, provider };
    expect(shown({ ...start, frontEnd: 'shop' })).to.deep.equal(['on to the provider', 'front end: shop']);
    expect(shown({ ...start, route: '/auth/provider/:frontEnd' })).to.deep.equal(['on to the provider']);
    expect(shown(callback)).to.deep.equal(['back to the page, with a code']);
    expect(shown({ ...callback, provider })).to.deep.equal(['logged in, back to the page', call]);
    expect(shown({ ...callback, outcome: 'access_denied', requestId: 'an-id' })).to.deep.equal([
      'The login was cancelled or denied at the provider (access_denied). Start it again.',
      'request ID: an-id',
    ]);
    expect(shown({ ...token, grant: 'authorization_code' })).to.deep.equal(['the tokens for the code', call]);
    expect(shown({ ...token, grant: 'refresh_token' })).to.deep.equal(['new tokens', call]);
    for (const [action, effect] of [
      ['revoke', 'the login is revoked'],
      ['session', 'somebody is logged in'],
      ['session-refresh', 'the session is renewed'],
      ['logout', 'the session is over'],
    ]) {
      expect(shown({ action, status: 200 })).to.deep.equal([effect]);
    }
    expect(shown({ action: 'probe', status: 200 })).to.deep.equal([]);
  });

  it('names the provider of a lookup, whose address does not', () => {
    const line = { msg: 'request', method: 'GET', status: 200, outcome: 'ok', durationMs: 1 };
    expect(read({ ...line, ...lookup, registration: 'staff' })).to.match(/\n {2}provider: staff$/);
    const start = read({ ...line, action: 'start', registration: 'staff' });
    expect(start).not.to.contain('provider: staff');
  });

  it('lists the callback URLs of several providers', () => {
    const address = 'http://127.0.0.1:8000';
    const callbackUrls = ['https://a.example/1', 'https://a.example/2'];
    expect(read({ msg: 'listening', address, callbackUrls })).to.equal(
      `INFO: listening\n  address: ${address}\n  ${callbackUrls.join('\n  ')}`,
    );
  });

  it('calls a preflight a preflight, and says why the browser is refused', () => {
    const line = { msg: 'request', method: 'OPTIONS', status: 204, outcome: 'ok', durationMs: 1 };
    const preflight = 'a preflight of the browser';
    expect(read({ ...line, route: null })).to.equal(`INFO: OPTIONS (any address) 204 ok in 1 ms\n  ${preflight}`);
    for (const [action, route, reason] of [
      ['user', '/api/user', 'no front end has this origin'],
      ['session', '/auth/session', 'no front end with sessions has this origin'],
    ]) {
      expect(read({ ...line, action, route })).to.equal(
        `INFO: OPTIONS ${route} 204 ok in 1 ms\n  ${preflight}, refused: ${reason}`,
      );
    }
  });

  it('says what an OPTIONS request led to where every method counts', () => {
    const shown = (fields: object) => read({ ...request, method: 'OPTIONS', status: 204, outcome: 'ok', ...fields });
    const check = { action: 'check', route: '/auth/check/notes' };
    const gateway = { action: 'gateway', route: 'gateway' };
    expect(shown(check)).to.match(/\n {2}the request may pass$/);
    expect(shown({ ...gateway, ended: 'upstream' })).to.match(/\n {2}passed to the resource$/);
    expect(shown(gateway)).to.match(/\n {2}a preflight of the browser$/);
  });

  it('distinguishes a redirect of the gateway to the login from a redirect of the resource', () => {
    const shown = (fields: object) => read({ ...request, action: 'gateway', status: 302, ...fields });
    expect(shown({ outcome: 'login_started' })).to.match(/\n {2}on to the login$/);
    expect(shown({ outcome: 'ok', ended: 'upstream' })).to.match(/\n {2}passed to the resource$/);
  });

  it('shows why a request failed, and its request ID', () => {
    const failed = { outcome: 'provider_unreachable', status: 502 };
    const provider = { ...failed, endpoint: 'user', error: 'CERT_HAS_EXPIRED', durationMs: 2 };
    const line = { ...request, ...failed, level: 'error', route: null, stack: 'at somewhere' };
    const { status: _, ...call } = provider;
    const text = read({ ...line, provider: call });
    expect(text.split('\n  ')).to.deep.equal([
      'ERROR: GET (no such address) 502 provider_unreachable in 3 ms',
      'The provider could not be reached. Try again in a moment.',
      "provider's user endpoint: provider_unreachable (CERT_HAS_EXPIRED) in 2 ms",
      'request ID: an-id',
      'at somewhere',
    ]);
  });

  it('shows the error code of the provider', () => {
    const provider = { endpoint: 'token', outcome: 'answered', status: 400, durationMs: 2 };
    const refused = { status: 400, outcome: 'code_refused', providerError: 'invalid_grant' };
    const line = { ...request, ...refused, level: 'warn', route: '/auth/provider/callback' };
    const text = read({ ...line, provider });
    expect(text.split('\n  ')).to.deep.equal([
      'WARN: GET /auth/provider/callback 400 code_refused in 3 ms',
      'Token retrieval failed: the provider refused the authorization code. Start the login again.',
      "provider's token endpoint: 400 in 2 ms",
      "provider's error code: invalid_grant",
      'request ID: an-id',
    ]);
  });

  it('escapes line breaks, and what controls a terminal or reorders text', () => {
    const line = { ...request, route: '/auth/github', status: 400, outcome: 'client_unknown' };
    const [, , asked] = read({ ...line, asked: 'a\r\nINFO: \u001b[2J\u009b\u2028\u202eb' }).split('\n  ');
    expect(asked).to.equal('asked for: a\\u{d}\\u{a}INFO: \\u{1b}[2J\\u{9b}\\u{2028}\\u{202e}b');
    expect(read({ msg: 'a page', origin: 'https://a\nb' })).to.equal('INFO: a page\n  origin: https://a\\u{a}b');
    const stack = 'Error\n    at one\n    at another';
    expect(read({ ...line, stack })).to.match(/\n {2}Error\n {6}at one\n {6}at another$/);
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
