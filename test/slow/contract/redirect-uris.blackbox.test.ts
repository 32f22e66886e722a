import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { keepAliveAgent } from '../../harness/client/http-client.ts';
import { pipelined } from '../../harness/client/pipelined.ts';
import { plainPayloads, redirectPayloads } from '../../harness/client/redirect-payloads.ts';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import {
  encoded,
  issuer,
  logInTo,
  oauthStart,
  openStart,
  type Parameters,
} from '../../harness/login/oauth-front-end.ts';
import { frontendOrigin, loginPath, relayUnderTest } from '../../harness/relay/relay-under-test.ts';

const page = `${frontendOrigin}/signed-in?theme=dark`;

/** Redirect URIs with a payload. None of them is registered. */
const redirectUris: Readonly<Record<string, (payload: string) => Parameters['redirect_uri']>> = {
  'the payload': (payload) => payload,
  'a registered one, and then the payload': (payload) => [page, payload],
  'the payload, and then a registered one': (payload) => [payload, page],
  'the payload after a registered one': (payload) => `${page}/${payload}`,
  'the payload after the path of a registered one': (payload) =>
    `${frontendOrigin}/signed-in${payload}`,
  'the payload after the origin': (payload) => `${frontendOrigin}${payload}`,
  'the payload in the user name': (payload) =>
    `https://a${payload}@app.example/signed-in?theme=dark`,
  'the payload as the beginning of the host': (payload) =>
    `https://${payload}.app.example/signed-in?theme=dark`,
  'the payload as the end of the host': (payload) =>
    `https://app.example.${payload}/signed-in?theme=dark`,
  'the payload as the scheme': (payload) => `${payload}://app.example/signed-in?theme=dark`,
  'the payload as the fragment': (payload) => `${page}#${payload}#`,
};

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: relay.example\r\n\r\n`;

describe(`no redirect_uri changes the target of a redirect: ${redirectPayloads.length} payloads`, () => {
  const underTest = relayUnderTest({ 'redirect-uri': `${page} ${frontendOrigin}/other` });

  for (const [what, redirectUriOf] of Object.entries(redirectUris)) {
    for (const [request, changes] of Object.entries<Parameters>({
      'a good request': {},
      'a request that fails': { response_type: 'token' },
    })) {
      it(`${request} with ${what} is refused in place`, async () => {
        const requests = redirectPayloads.map((payload) => {
          const redirect_uri = redirectUriOf(payload.toWellFormed());
          return get(
            `${loginPath}?${encoded(oauthStart({ ...changes, redirect_uri }).parameters)}`,
          );
        });
        const answers = await pipelined(underTest().port, requests);
        for (const [index, { status, headers, body }] of answers.entries()) {
          const payload = redirectPayloads[index];
          expect(status, payload).to.equal(400);
          expect(headers.map(([name]) => name)).to.not.include('Location');
          expect(headers.map(([name]) => name)).to.not.include('Set-Cookie');
          expect(body, payload).to.match(
            /^\{"detail":"The redirect_uri is missing, [\w ,-]+\."\}$/,
          );
        }
      });
    }
  }

  it('other spellings of a registered one lead to its registered spelling', async () => {
    for (const spelling of [
      page,
      'HTTPS://APP.example:443/signed-in?theme=dark',
      'https:\\\\app.example\\signed-in?theme=dark',
      'https:app.example/signed-in?theme=dark',
      'https:////app.example/./x/../signed-in?theme=dark',
      ' https://app.ex\nample/sig\tned-in?theme=\rdark\0',
      'https://:@app.example/signed-in?theme=dark',
      'https://%61pp.example/signed-in?theme=dark',
      'https://app\uff0eexample/signed-in?theme=dark',
    ]) {
      const start = oauthStart({ redirect_uri: spelling });
      const { location } = await logInTo(new FakeBrowser(underTest), underTest(), start);
      expect(location.href.startsWith(`${page}&code=`), JSON.stringify(spelling)).to.equal(true);
    }
  });

  it("the front end's state adds no parameter and leads nowhere", async function () {
    this.timeout(60_000);
    const agent = keepAliveAgent(1);
    for (const state of plainPayloads.map((payload) => payload.toWellFormed())) {
      const browser = new FakeBrowser(underTest, { agent });
      const start = oauthStart({ redirect_uri: page, state });
      const { location } = await logInTo(browser, underTest(), start);
      expectPage(location, 'code', state);
      const failing = oauthStart({ redirect_uri: page, state, scope: state || 'x' });
      expectPage(expectRedirect(await openStart(browser, failing)), 'error', state);
    }
    agent.destroy();
  });

  function expectPage(location: URL, outcome: 'code' | 'error', state: string): void {
    const { href, hash, searchParams } = location;
    expect(href.startsWith(`${page}&${outcome}=`), href).to.equal(true);
    expect(hash).to.equal('');
    expect(searchParams.get('state') ?? '').to.equal(state);
    expect(searchParams.getAll('iss')).to.deep.equal([issuer]);
    const names = { code: ['code'], error: ['error', 'error_description', 'request_id'] }[outcome];
    const expected = ['theme', ...names, ...(state === '' ? [] : ['state']), 'iss'];
    expect([...searchParams.keys()]).to.have.members(expected);
  }
});
