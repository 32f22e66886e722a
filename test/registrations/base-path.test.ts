import { expect } from 'chai';
import { ownPrefix } from '../../src/paths.ts';
import { clientsRelay, jsonOf, locationOf } from '../clients/support/clients-relay.ts';
import type { Answer } from '../harness/client/request.ts';
import { encoded, oauthStart } from '../harness/login/oauth-front-end.ts';
import { SessionPage, sessionOf, sessionOrigin } from '../harness/login/session-page.ts';
import { documentedEndpoints } from '../harness/project/documented-endpoints.ts';
import { answer, json } from '../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../harness/provider/serve.ts';
import type { Settings } from '../harness/relay/relay-of-file.ts';
import { secret } from '../resources/support/resources-relay.ts';

const settings = (path: string, api = 'http://127.0.0.1:1/'): Settings => ({
  path,
  relay: `trusted-proxies: [127.0.0.1]
resources:
  notes: { url: https://notes.example.com/mcp, secret-file: ./notes }
  wiki: { url: https://wiki.example.com/, browser: true }
`,
  frontEnds: `  page: { origin: ${sessionOrigin}, token-delivery: session, proxy: [{ path: /api/things/, url: '${api}', methods: [GET] }] }
  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, resources: [notes] }
  tools: { kind: native, clients: { registration: true } }
`,
  files: { './notes': secret },
});

const documented = documentedEndpoints({
  provider: 'provider',
  'front end': 'app',
  resource: 'wiki',
  path: '/api/things/1',
  '/.well-known/oauth-authorization-server': '/.well-known/oauth-authorization-server/auth/provider',
  '/.well-known/oauth-protected-resource': '/.well-known/oauth-protected-resource/mcp',
});

/** Every address at the relay's own host, and addresses that it does not have. `/auth` is only for a CMS. */
const addresses = [
  ...documented.flatMap((endpoint) => endpoint.addresses).filter((address) => !address.startsWith(ownPrefix)),
  '/auth/check/notes',
  '/auth/gone/callback',
  '/auth/other',
  '/unknown',
];

/** An answer, without the parts that differ from answer to answer. */
function essence({ status, headers, body }: Answer) {
  const location = URL.parse(headers.location ?? '');
  const changing = ['date', 'x-request-id', 'location', 'set-cookie', 'dpop-nonce'];
  const shown = Object.entries(headers).filter(([name]) => !changing.includes(name));
  const cookie = `${headers['set-cookie']}`.replace(/lr_login_[^;]*/, '');
  return {
    status,
    headers: Object.fromEntries(shown),
    to: location?.pathname ?? headers.location,
    cookie,
    body: `${body}`.replace(/Request ID: [\w-]+/, ''),
  };
}

describe('a relay below a path', () => {
  let api: Serving;
  before(async () => {
    api = await serve((request, response) => answer(200, `things at ${request.url}`)(response));
  });
  after(() => api.close());
  const relay = clientsRelay(() => settings('/sso'));
  beforeEach(async () => {
    relay().intercept = () => false;
    await relay().restart(settings('/sso', `http://127.0.0.1:${api.port}/`));
    relay().provider.knows(json({ sub: '42', login: 'ada' }));
  });

  for (const address of addresses) {
    it(`has ${address} with the path and without it`, async () => {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        for (const query of ['', '?a=/sso/b', '?code=a&state=b']) {
          const headers: [string, string][] = [
            ['Origin', sessionOrigin],
            ['Accept', 'text/html'],
          ];
          const ask = (path: string) => relay().send({ method, path: path + query, headers });
          const without = await ask(address);
          const beneath = await ask(`/sso${address}`);
          expect(essence(beneath), method + query).to.deep.equal(essence(without));
          const exists = !/gone|other|unknown|^\/auth$/.test(address);
          if (method === 'GET' && exists) expect(without.status).to.not.equal(404);
        }
      }
    });
  }

  it('has a separate callback path, with the base path and without it', async () => {
    await relay().restart({ ...settings('/sso'), provider: 'callback-path: /oauth2/callback' });
    const to = locationOf(await relay().send({ path: '/sso/auth/provider/page' }));
    expect(to.searchParams.get('redirect_uri')).to.equal('https://relay.example/sso/oauth2/callback');
    for (const path of ['/oauth2/callback', '/sso/oauth2/callback']) {
      expect((await relay().send({ path: `${path}?code=a&state=b` })).status, path).to.not.equal(404);
    }
  });

  it('is not found at what only looks like the path', async () => {
    for (const path of ['/ssoauth/provider', '/SSO/auth/provider', '/%73so/auth/provider', '/sso/sso/auth/provider']) {
      expect((await relay().send({ path })).status, path).to.equal(404);
    }
    for (const path of [
      '/sso//auth/provider',
      '/sso/./auth/provider',
      '//sso/auth/provider',
      '/sso/%2fauth/provider',
    ]) {
      expect((await relay().send({ path })).status, path).to.be.oneOf([400, 404]);
    }
    for (const path of ['/sso', '/sso?a']) {
      expect((await relay().send({ path, headers: [['Accept', 'text/html']] })).status, path).to.equal(200);
    }
  });

  it('describes itself at the place of RFC 8414 and below the path, as its issuer', async () => {
    const place = '/.well-known/oauth-authorization-server';
    for (const path of [`${place}/sso/auth/provider`, `${place}/auth/provider`, `/sso${place}/auth/provider`]) {
      const answered = await relay().send({ path });
      expect(answered.status, path).to.equal(200);
      expect(jsonOf(answered)).to.include({ issuer: 'https://relay.example/sso/auth/provider' });
    }
  });

  for (const [what, cut] of [
    ['passes the path on', false],
    ['cuts the path off', true],
  ] as const) {
    describe(`behind a proxy that ${what}`, () => {
      const seen: string[] = [];
      beforeEach(() => {
        seen.length = 0;
        relay().intercept = (request) => {
          if (cut) request.url = request.url?.replace(/^\/sso(?=\/)/, '') ?? '';
          seen.push(request.url ?? '');
          return false;
        };
      });
      afterEach(() => {
        expect(seen.some((url) => url.startsWith('/sso/'))).to.equal(!cut);
      });

      it('logs a page in with a session, which uses the API, is refreshed and ends', async () => {
        const page = new SessionPage(relay, relay().provider);
        await page.logIn('/sso/auth/provider/page');
        expect(sessionOf(await page.send('/sso/auth/session'))).to.include({ provider: 'provider' });
        expect((await page.send('/sso/api/user')).status).to.equal(200);
        const used = await page.send('/sso/api/things/1?a=b');
        expect([used.status, `${used.body}`]).to.deep.equal([200, 'things at /1?a=b']);
        expect((await page.send('/sso/auth/session/refresh', 'POST')).status).to.equal(200);
        expect((await page.send('/sso/auth/logout', 'POST')).status).to.equal(200);
        expect((await page.send('/sso/auth/session')).status).to.equal(401);
      });

      it('logs a page in with a code, for a resource that is checked', async () => {
        const start = oauthStart({ client_id: 'app', redirect_uri: 'https://app.example/' });
        const back = await relay().visit(`${relay().address}/auth/provider?${encoded(start.parameters)}`);
        const form = encoded({
          grant_type: 'authorization_code',
          client_id: 'app',
          redirect_uri: 'https://app.example/',
          code: back.searchParams.get('code') ?? '',
          code_verifier: start.codeVerifier,
        });
        const type: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
        const answered = await relay().send({
          method: 'POST',
          path: '/sso/auth/provider/token',
          body: form,
          headers: [type, ['Content-Length', `${form.length}`]],
        });
        const authorization: [string, string] = ['Authorization', `Bearer ${jsonOf(answered)['access_token']}`];
        const checked = await relay().send({ path: '/sso/auth/check/notes', headers: [authorization] });
        expect([checked.status, checked.headers['x-forwarded-user']]).to.deep.equal([204, '42']);
      });

      it('asks a person about an unregistered client', async () => {
        const body = JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] });
        const registered = await relay().send({
          method: 'POST',
          path: '/sso/auth/provider/register',
          body,
          headers: [
            ['Content-Type', 'application/json'],
            ['Content-Length', `${body.length}`],
          ],
        });
        expect(registered.status, `${registered.body}`).to.equal(201);
        const parameters = {
          client_id: `${jsonOf(registered)['client_id']}`,
          redirect_uri: 'http://127.0.0.1/callback',
        };
        const start = `${relay().address}/auth/provider?${encoded(oauthStart(parameters).parameters)}`;
        const page = await relay().browser().open(start);
        const [, action = ''] = /<form[^>]* action="([^"]*)"/.exec(`${page.body}`) ?? [];
        expect(new URL(action, start).pathname).to.equal('/sso/auth/provider/consent');
        const [, token = ''] = /name="consent" value="([^"]*)"/.exec(`${page.body}`) ?? [];
        expect(token).to.not.equal('');
      });
    });
  }

  it('is found below a path that looks like one of its addresses, if there is no such address', async () => {
    for (const [path, ...both] of [
      ['/auth', '/auth/auth/provider', '/auth/provider'],
      ['/api', '/api/auth/provider', '/auth/provider'],
      ['/auth/sso', '/auth/sso/auth/provider', '/auth/provider'],
    ] as const) {
      await relay().restart(settings(path));
      for (const start of both) {
        const to = locationOf(await relay().send({ path: start }));
        expect(to.searchParams.get('redirect_uri'), start).to.equal(
          `https://relay.example${path}/auth/provider/callback`,
        );
      }
      for (const user of ['/api/user', `${path}/api/user`]) {
        expect((await relay().send({ path: user })).status, user).to.equal(401);
      }
    }
  });
});
