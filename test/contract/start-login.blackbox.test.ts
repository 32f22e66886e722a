import { expect } from 'chai';
import { expectRedirect, expectToken } from '../harness/expect/expectations.ts';
import { baseUrl, loginPath, redirectUri, relayUnderTest } from '../harness/relay/relay-under-test.ts';

/** Parameters that login protection may add to an authorization request. */
const protection = ['state', 'code_challenge', 'code_challenge_method'];

/** The parameters of every authorization request. */
const required = { client_id: 'client-1', redirect_uri: redirectUri, response_type: 'code' };

/** The parameters of an authorization request without login protection's; each may come once. */
function authorizationParameters(location: URL): Record<string, string> {
  const names = [...location.searchParams.keys()];
  expect(names).to.deep.equal([...new Set(names)]);
  return Object.fromEntries([...location.searchParams].filter(([name]) => !protection.includes(name)));
}

describe('start login', () => {
  describe('with nothing but what is required', () => {
    const underTest = relayUnderTest();

    it('redirects to the authorization endpoint as RFC 6749 section 4.1.1 says', async () => {
      const location = expectRedirect(await underTest().get(loginPath));
      expect(`${location.origin}${location.pathname}`).to.equal(underTest().provider.authorizeUrl);
      expect(location.hash).to.equal('');
      expect(authorizationParameters(location)).to.deep.equal(required);
    });

    it('does not call the provider', async () => {
      await underTest().get(loginPath);
      expect(underTest().provider.calls).to.deep.equal([]);
    });

    it('copies nothing from the query into the authorization request', async () => {
      const query =
        '?client_id=evil&redirect_uri=https%3A%2F%2Fevil.example&response_type=token' +
        '&scope=everything&x=1&code=c&__proto__=p';
      const location = expectRedirect(await underTest().get(`${loginPath}${query}`));
      expect(authorizationParameters(location)).to.deep.equal(required);
    });

    it('ignores Host and forwarding headers', async () => {
      const answer = await underTest().send({
        path: loginPath,
        headers: [
          ['X-Forwarded-Host', 'evil.example'],
          ['X-Forwarded-Proto', 'ftp'],
          ['X-Forwarded-Port', '1'],
          ['X-Forwarded-Prefix', '/evil'],
          ['Forwarded', 'host=evil.example;proto=http'],
          ['X-Original-URL', '/evil'],
          ['X-HTTP-Method-Override', 'DELETE'],
        ],
      });
      expect(authorizationParameters(expectRedirect(answer))).to.deep.equal(required);
      const hostile = await underTest().sendBytes(
        `GET ${loginPath} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      );
      expect(authorizationParameters(expectRedirect(hostile))).to.deep.equal(required);
    });
  });

  describe('with a scope, and a query in the authorize URL', () => {
    const underTest = relayUnderTest(
      {
        scope: 'read:user user:email',
        'client-id': 'client 1&scope=x+y%20~',
        'authorize-url': 'https://provider.example/o/authorize?prompt=login&q=a%20b%26c',
      },
      { clientId: 'client 1&scope=x+y%20~' },
    );

    it('keeps the query and adds its own parameters to it', async () => {
      const location = expectRedirect(await underTest().get(loginPath));
      expect(`${location.origin}${location.pathname}`).to.equal('https://provider.example/o/authorize');
      expect(authorizationParameters(location)).to.deep.equal({
        ...required,
        prompt: 'login',
        q: 'a b&c',
        client_id: 'client 1&scope=x+y%20~',
        scope: 'read:user user:email',
      });
    });

    it('identifies itself with the same client identifier at the token endpoint', async () => {
      expectToken(await underTest().logIn());
    });
  });

  describe('under another name of the relay', () => {
    const otherHost = /^login started under another host name/;
    const underTest = relayUnderTest();

    it('is answered as ever, and a warning names both addresses', async () => {
      const bytes = `GET ${loginPath} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nConnection: close\r\n\r\n`;
      expectRedirect(await underTest().sendBytes(bytes));
      const warning = await underTest().process.logLine(({ msg }) => otherHost.test(`${msg}`));
      const { time: _, msg: __, ...line } = warning;
      expect(line).to.deep.equal({ level: 'warn', host: '127.0.0.1:8000', baseUrl });
    });
  });

  describe('without a state check, so without a cookie,', () => {
    const underTest = relayUnderTest({
      'state-check': 'off',
      'trusted-proxies': '127.0.0.1',
      'token-request': 'query',
    });

    it('works under any host name, and warns of none', async () => {
      await underTest().lineOf(await underTest().get(loginPath));
      const { logLines } = underTest().process;
      expect(logLines.filter(({ level }) => level === 'warn')).to.deep.equal([]);
    });
  });
});
