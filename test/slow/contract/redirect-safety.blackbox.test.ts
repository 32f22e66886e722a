import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { keepAliveAgent, send } from '../../harness/client/http-client.ts';
import { headerOf, pipelined } from '../../harness/client/pipelined.ts';
import { plainPayloads, redirectPayloads } from '../../harness/client/redirect-payloads.ts';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import { issuer, logInTo, oauthStart, openStart } from '../../harness/login/oauth-front-end.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  redirectUri,
  relayUnderTest,
} from '../../harness/relay/relay-under-test.ts';

const page = `${frontendOrigin}/signed-in?theme=dark`;

// The payload in a query, where only characters that are not allowed are encoded.
const asQuery = (payload: string) =>
  payload.toWellFormed().replaceAll(/[^\x21-\x7e]|#/gu, (character) => encodeURIComponent(character));
// The payload in a header: UTF-8, without the characters that would end the header.
const asHeader = (payload: string) =>
  Buffer.from(payload)
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');

function get(target: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Host: 'relay.example', ...headers });
  return `GET ${target} HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`;
}

/** Every part of a request that could reach a Location header. */
const inputs: Record<string, (payload: string) => string> = {
  "the front end's state": (payload) => get(`${loginPath}?state=${asQuery(payload)}`),
  'parameters that others redirect to': (payload) => {
    const value = asQuery(payload);
    const names = ['redirect_uri', 'redirect', 'next', 'return_to', 'rd', 'url', 'client_id'];
    return get(`${loginPath}?${names.map((name) => `${name}=${value}`).join('&')}`);
  },
  'the name of a parameter': (payload) => get(`${loginPath}?${asQuery(payload)}=state`),
  'the Host of a start': (payload) => get(loginPath, { Host: asHeader(payload) }),
  'the headers of proxies': (payload) => {
    const value = asHeader(payload);
    return get(loginPath, {
      'X-Forwarded-Host': value,
      'X-Forwarded-Proto': value,
      'X-Forwarded-Port': value,
      'X-Forwarded-Prefix': value,
      'X-Forwarded-Server': value,
      'X-Original-URL': value,
      'X-Original-Host': value,
      'X-Rewrite-URL': value,
      'X-HTTP-Host-Override': value,
      Forwarded: `host=${value};proto=${value}`,
      Referer: value,
      Origin: value,
    });
  },
  "the provider's error": (payload) => get(`${callbackPath}?error=${asQuery(payload)}`),
  "the provider's description of an error": (payload) =>
    get(`${callbackPath}?error=access_denied&error_description=${asQuery(payload)}&error_uri=${asQuery(payload)}`),
  'the code': (payload) => get(`${callbackPath}?code=${asQuery(payload)}`),
  'the state of a callback': (payload) => get(`${callbackPath}?code=a&state=${asQuery(payload)}`),
  'the issuer of a callback': (payload) => get(`${callbackPath}?code=a&iss=${asQuery(payload)}`),
  'the Host of a callback': (payload) =>
    get(`${callbackPath}?code=a`, { Host: asHeader(payload), Referer: asHeader(payload) }),
  'the headers of proxies at a callback': (payload) =>
    get(`${callbackPath}?code=a`, {
      'X-Forwarded-Host': asHeader(payload),
      Forwarded: asHeader(payload),
    }),
  'the path': (payload) => get(`/${asQuery(payload)}`),
  'the path below a start': (payload) => get(`${loginPath}/${asQuery(payload)}`),
  'the whole target': (payload) => get(asQuery(payload)),
  'the host of the target': (payload) => get(`http://${asQuery(payload)}${loginPath}`),
};

/** All parameters are decoded in the same way: one of a start and of a callback, and paths, get the encodings, too. */
const payloadsFor = (input: string, payloads: readonly string[]) =>
  /^the (front end's state|code|path|whole target)/.test(input) ? payloads : plainPayloads;

const parametersOf = ({ hash, searchParams }: URL) => (hash === '' ? searchParams : new URLSearchParams(hash.slice(1)));

describe(`no payload changes the target of a redirect: ${redirectPayloads.length} payloads`, () => {
  // Both read a request in the same way, so the second needs no encodings.
  for (const [flags, payloads] of [
    [{}, redirectPayloads],
    [{ 'error-delivery': 'redirect', 'token-delivery': 'fragment' }, plainPayloads],
  ] as const) {
    describe(`with ${JSON.stringify(flags)}`, () => {
      const underTest = relayUnderTest(flags);

      /** The target of a redirect, which must be the provider or the front end. */
      function expectOwnTarget(location: string): URL {
        expect(location).to.match(/^[\x21-\x7e]+$/);
        const url = new URL(location);
        const { authorizeUrl } = underTest().provider;
        if (location.startsWith(`${authorizeUrl}?`)) {
          expect([...url.searchParams.keys()]).to.deep.equal([
            'response_type',
            'client_id',
            'redirect_uri',
            'state',
            'code_challenge',
            'code_challenge_method',
          ]);
          expect(url.searchParams.get('redirect_uri')).to.equal(redirectUri);
        } else {
          expect(location).to.match(/^https:\/\/app\.example\/(\?|#)/);
          expect(url.origin).to.equal(frontendOrigin);
        }
        return url;
      }

      for (const [input, request] of Object.entries(inputs)) {
        it(`in ${input}`, async () => {
          underTest().provider.onToken = json({ access_token: 'token' });
          const sent = payloadsFor(input, payloads);
          const [home, ...answers] = await pipelined(underTest().port, [get('/'), ...sent.map(request)]);
          const shapes = new Map<string, string>();
          for (const [index, answer] of answers.entries()) {
            const location = headerOf(answer, 'Location');
            const target = location === undefined ? undefined : expectOwnTarget(location).origin;
            // Some targets are the root in another spelling.
            const isHome = answer.status === 200 && answer.body === home?.body;
            const statuses = location === undefined ? [isHome ? 200 : 404, 400] : [307];
            expect(statuses, sent[index]).to.include(answer.status);
            // The headers of an answer do not depend on the payload.
            const kind = `${answer.status} ${target} ${answer.body}`;
            const shape = answer.headers.map(([name]) => name).join();
            expect(shape, sent[index]).to.equal(shapes.get(kind) ?? shape);
            shapes.set(kind, shape);
          }
        });
      }

      it("in the provider's token", async () => {
        const agent = keepAliveAgent(1);
        let passedOn = 0;
        let headers: number | undefined;
        for (const payload of payloads) {
          underTest().provider.onToken = json({ access_token: payload });
          const path = `${callbackPath}?code=a`;
          const { headers: answered, rawHeaders } = await send(underTest().port, { path, agent });
          if (answered.location === undefined) continue;
          const url = expectOwnTarget(answered.location);
          const parameters = parametersOf(url);
          if (parameters.get('error') === 'token_missing') continue;
          expect(parameters.get('access_token')).to.equal(payload);
          expect(parameters.size).to.equal(1);
          headers ??= rawHeaders.length;
          expect(rawHeaders.length, payload).to.equal(headers);
          passedOn += 1;
        }
        agent.destroy();
        // Most payloads are valid tokens. So these answers are real redirects, and not refusals.
        expect(passedOn).to.be.greaterThan(payloads.length / 3);
      });

      it("in the front end's state, when it comes back", async () => {
        const agent = keepAliveAgent(1);
        for (const payload of plainPayloads.map((one) => one.toWellFormed())) {
          const browser = new FakeBrowser(underTest, { agent });
          const login = await browser.start(`?state=${encodeURIComponent(payload)}`);
          const { headers } = await browser.finish(login);
          const url = expectOwnTarget(headers.location ?? '');
          const parameters = parametersOf(url);
          expect(parameters.get('state') ?? '').to.equal(payload);
          expect([...parameters.keys()].length).to.equal(payload === '' ? 1 : 2);
        }
        agent.destroy();
      });
    });
  }
});

describe('a redirect_uri with a query', () => {
  const underTest = relayUnderTest({ 'redirect-uri': `${page} ${frontendOrigin}/other` });

  it('leads to its registered spelling if it is spelled in another way', async () => {
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

  it("the front end's state adds no parameter and leads nowhere", async () => {
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
