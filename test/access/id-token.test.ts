import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { jsonOf, loopback } from '../clients/support/clients-relay.ts';
import { faultsOfFile, readFileConfig } from '../config/support/read.ts';
import { canary } from '../harness/expect/canaries.ts';
import { SessionPage, sessionOrigin } from '../harness/login/session-page.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { serve } from '../harness/provider/serve.ts';
import type { Behaviour } from '../harness/provider/strict-calls.ts';
import { baseUrl } from '../harness/relay/relay.ts';
import { bearer, check, introspect, notes, resourcesRelay, tokensOf } from '../resources/support/resources-relay.ts';

const issuer = 'https://id.example/pool';
const frontEnds = `  tools: { kind: native, refresh-tokens: bearer, redirect-uris: ['${loopback}'], resources: [notes] }\n`;
const settings = {
  relay: `resources:\n  notes: { url: ${notes}, identity: [email, groups], secret-file: ./notes }\n`,
  frontEnds,
  files: { './notes': 'a secret of thirty-two characters or more' },
};
const allow = "allow: { groups: [staff], groups-claim: 'cognito:groups' }";
const providerOf = (...more: string[]) =>
  [`issuer: ${issuer}`, 'scope: openid email', 'user-from: id-token', ...more].join('\n    ');

const relay = resourcesRelay(settings);
const nonces = new Map<string, string | null>();
let isAtRefresh = true;
const good = { 'cognito:groups': ['staff', 'users'], email: 'ada@example.com', email_verified: true };
let claims: object = good;
let secretOfToken = '';
let makeToken: (payload: object) => unknown;

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const plain = (payload: object) => `${part({ alg: 'RS256' })}.${part(payload)}.${secretOfToken}`;

/** Adds an ID token to what a token endpoint answers. */
function withIdToken(behaviour: Behaviour, isRefresh: boolean): Behaviour {
  return (response, call) => {
    const { writeHead, end } = response;
    let status = 200;
    Object.assign(response, {
      writeHead(given: number) {
        status = given;
        return response;
      },
      end(text: string) {
        const fields = JSON.parse(text);
        const { clientId } = relay().provider.registration;
        const now = Math.floor(Date.now() / 1000);
        const nonce = isRefresh ? undefined : (nonces.get(call.credential) ?? undefined);
        const payload = { iss: issuer, aud: clientId, sub: '7', exp: now + 3600, iat: now, nonce, ...claims };
        const isGiven = fields.access_token !== undefined && (!isRefresh || isAtRefresh);
        const body = JSON.stringify({ ...fields, ...(isGiven && { id_token: makeToken(payload) }) });
        writeHead.call(response, status, { 'content-type': 'application/json' });
        return end.call(response, body, 'utf8');
      },
    });
    behaviour(response, call);
  };
}

beforeEach(() => {
  const { provider } = relay();
  nonces.clear();
  secretOfToken = canary('token');
  makeToken = plain;
  claims = good;
  isAtRefresh = true;
  const authorize = Object.getPrototypeOf(Object.getPrototypeOf(provider)).authorize.bind(provider);
  provider.authorize = (url: URL) => {
    const code = authorize(url);
    nonces.set(code, url.searchParams.get('nonce'));
    return code;
  };
  provider.onToken = withIdToken(provider.onToken, false);
  provider.onRefresh = withIdToken(provider.onRefresh, true);
  provider.onUser = json({ sub: 'of-the-user-endpoint' });
});

/** Restarts the relay with a provider that has these settings, and a user endpoint or none. */
async function start(hasUserEndpoint: boolean, more: readonly string[], frontEnds = settings.frontEnds) {
  const { provider } = relay();
  const { 'user-url': userUrl, ...flags } = Reflect.get(Object.getPrototypeOf(provider), 'flags', provider);
  const value = hasUserEndpoint ? { ...flags, 'user-url': userUrl } : flags;
  Object.defineProperty(provider, 'flags', { value, configurable: true });
  const isOfResource = frontEnds === settings.frontEnds;
  await relay().restart({
    ...settings,
    relay: isOfResource ? settings.relay : '',
    frontEnds,
    provider: providerOf(...more),
  });
  relay().lines.length = 0;
}

async function logIn() {
  const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri: loopback, resource: notes });
  return await relay().redeem(start, code);
}
const lookups = () => relay().provider.credentials('user');
const lastLine = () => relay().lines.findLast(({ msg }) => msg === 'request');

describe('a provider whose ID token says who somebody is', () => {
  it('needs no user endpoint, and is asked nothing', async () => {
    await start(false, [allow]);
    const answer = await logIn();
    expect(answer.status, `${answer.body}`).to.equal(200);
    const { access_token, identity } = tokensOf(answer);
    expect(identity).to.deep.equal({ sub: '7', email: 'ada@example.com', groups: ['staff', 'users'] });
    expect((await check(relay(), 'notes', bearer(access_token))).headers['x-forwarded-user']).to.equal('7');
    expect(await introspect(relay(), 'notes', access_token)).to.include({ active: true, sub: '7' });
    expect(lookups()).to.deep.equal([]);
    // The ID token stays in the relay.
    const seen = JSON.stringify([`${answer.body}`, relay().lines]);
    expect(seen).not.to.contain(secretOfToken).and.not.to.contain('id_token');
  });

  it('may have metadata without a user endpoint', async () => {
    const { provider } = relay();
    const found = provider.origin;
    provider.pages = {
      'GET /.well-known/openid-configuration': json({
        issuer: found,
        authorization_endpoint: provider.authorizeUrl,
        token_endpoint: provider.tokenUrl,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      }),
    };
    Object.defineProperty(provider, 'flags', { value: { issuer: found }, configurable: true });
    await relay().restart({ ...settings, provider: ['user-from: id-token', allow].join('\n    ') });
    claims = { ...good, iss: found };
    const answer = await logIn();
    provider.pages = {};
    expect(answer.status, `${answer.body}`).to.equal(200);
    expect(tokensOf(answer)['identity']).to.deep.include({ sub: '7', groups: ['staff', 'users'] });
    expect(lookups()).to.deep.equal([]);
  });

  it('sends a nonce that is bound to the browser', async () => {
    await start(false, [allow]);
    await logIn();
    await logIn();
    const [first, second] = nonces.values();
    expect(first).to.match(/^[\w-]{22}$/);
    expect(first).not.to.equal(second);
  });

  it('says it again at each refresh, and may say no', async () => {
    await start(false, [allow]);
    const { refresh_token } = tokensOf(await logIn());
    claims = { ...good, 'cognito:groups': ['staff'], email: 'new@example.com' };
    relay().ahead = 120_000;
    const refreshed = tokensOf(await relay().refresh('tools', refresh_token));
    expect(refreshed['identity']).to.deep.equal({ sub: '7', email: 'new@example.com', groups: ['staff'] });
    claims = { ...good, 'cognito:groups': [] };
    relay().ahead = 240_000;
    const refused = await relay().refresh('tools', refreshed.refresh_token);
    expect(jsonOf(refused)).to.include({ error: 'invalid_grant' });
    expect(lastLine()).to.deep.include({
      outcome: 'access_ended',
      fields: [{ field: 'cognito:groups', reason: 'mismatch' }],
    });
    expect(lookups()).to.deep.equal([]);
  });

  it('may send no ID token at a refresh, and then the relay asks the user endpoint, if there is one', async () => {
    isAtRefresh = false;
    await start(true, [allow]);
    const { refresh_token } = tokensOf(await logIn());
    expect(lookups()).to.deep.equal([]);
    relay().ahead = 120_000;
    relay().provider.onUser = json({ sub: '7', 'cognito:groups': ['staff'] });
    const { identity } = tokensOf(await relay().refresh('tools', refresh_token));
    expect(identity).to.deep.equal({ sub: '7', groups: ['staff'] });
    expect(lookups()).to.have.length(1);
  });

  for (const [where, isInIdToken] of [
    ['in the ID token', true],
    ['at the user endpoint', false],
  ] as const) {
    it(`is not believed at a refresh if it names somebody else ${where}`, async () => {
      await start(true, [allow]);
      const { refresh_token } = tokensOf(await logIn());
      isAtRefresh = isInIdToken;
      const person = { ...good, sub: '8' };
      claims = person;
      relay().provider.onUser = json(person);
      relay().ahead = 120_000;
      const answer = await relay().refresh('tools', refresh_token);
      expect(answer.status, `${answer.body}`).to.equal(400);
      const fields = [{ field: 'sub', reason: 'mismatch' }];
      expect(lastLine()).to.deep.include({ outcome: 'identity_unknown', fields });
      expect(JSON.stringify(lastLine())).not.to.contain('"8"');
    });
  }

  it('is not believed at the refresh of a session if it names somebody else', async () => {
    await start(false, [allow], '  app: { origin: https://app.relay.example, token-delivery: session }\n');
    const page = new SessionPage(relay, relay().provider);
    await page.logIn();
    relay().ahead = 120_000;
    const first = await page.refresh();
    expect(first.status, `${first.body}`).to.equal(200);
    claims = { ...good, sub: '8' };
    relay().ahead = 240_000;
    expect((await page.refresh()).status).to.equal(400);
    expect(lastLine()).to.deep.include({ outcome: 'identity_unknown', fields: [{ field: 'sub', reason: 'mismatch' }] });
  });

  it('counts all sessions of a person together for the places for calls to the API', async () => {
    const held: ServerResponse[] = [];
    const api = await serve((_, response) => {
      response.writeHead(200).write('a');
      held.push(response);
    });
    const proxy = `proxy: [{ path: /api/files/, url: 'http://127.0.0.1:${api.port}/', methods: [GET] }]`;
    const frontEnd = `  app: { origin: ${sessionOrigin}, token-delivery: session, ${proxy} }\n`;
    await start(false, [], frontEnd);
    /** Logs in, and opens an answer that does not end. */
    const open = async (sub: string) => {
      claims = { ...good, sub };
      const page = new SessionPage(relay, relay().provider);
      await page.logIn();
      const headers = { Host: new URL(baseUrl).host, Origin: sessionOrigin, Cookie: page.cookie, 'X-Login-Relay': '1' };
      const path = '/api/files/a';
      const sent = httpRequest({ host: '127.0.0.1', port: relay().port, path, agent: false, headers }).end();
      const [response]: IncomingMessage[] = await once(sent, 'response');
      response?.on('error', () => {});
      return response;
    };
    const statuses = new Set<number | undefined>();
    for (let session = 0; session < limits.providerCalls / 2; session += 1) {
      statuses.add((await open('greedy'))?.statusCode);
    }
    expect([...statuses]).to.deep.equal([200]);
    expect((await open('greedy'))?.statusCode).to.equal(503);
    const other = await open('another');
    expect(other?.statusCode).to.equal(200);
    expect(held.filter(({ destroyed }) => destroyed)).to.have.length(1);
    await api.close();
  });

  it('has not said who it is if it leaves it out, and there is no user endpoint', async () => {
    isAtRefresh = false;
    await start(false, [allow]);
    const { refresh_token } = tokensOf(await logIn());
    relay().ahead = 120_000;
    const answer = await relay().refresh('tools', refresh_token);
    expect(answer.status).to.equal(400);
    expect(lastLine()).to.deep.include({
      outcome: 'identity_unknown',
      fields: [{ field: 'id_token', reason: 'missing' }],
    });
  });

  for (const [what, change, fields] of [
    ['another issuer', { iss: 'https://evil.example' }, ['iss', 'mismatch']],
    ['no issuer', { iss: undefined }, ['iss', 'missing']],
    ['the issuer with a slash', { iss: `${issuer}/` }, ['iss', 'mismatch']],
    ['another audience', { aud: 'another' }, ['aud', 'mismatch']],
    ['no audience', { aud: undefined }, ['aud', 'missing']],
    ['an audience of the same beginning', { aud: ['client-12'] }, ['aud', 'mismatch']],
    ['another party', { azp: 'another' }, ['azp', 'mismatch']],
    ['an end in the past', { exp: Math.floor(Date.now() / 1000) - 120 }, ['exp', 'expired']],
    ['no end', { exp: undefined }, ['exp', 'missing']],
    ['an end that is text', { exp: '9999999999' }, ['exp', 'shape']],
    ['another nonce', { nonce: 'A'.repeat(22) }, ['nonce', 'mismatch']],
    ['no nonce', { nonce: undefined }, ['nonce', 'missing']],
    ['no subject', { sub: undefined }, ['sub', 'missing']],
    ['a subject that is a number', { sub: 7 }, ['sub', 'shape']],
  ] as const) {
    it(`is not believed with ${what}`, async () => {
      await start(false, [allow]);
      claims = { ...good, ...change };
      const answer = await logIn();
      expect(answer.status).to.equal(400);
      expect(jsonOf(answer)).to.include({ error: 'access_denied' });
      const [field, reason] = fields;
      expect(lastLine()).to.deep.include({ outcome: 'identity_unknown', fields: [{ field, reason }] });
      expect(JSON.stringify(lastLine())).not.to.match(/evil|another|ada@|AAAA/);
    });
  }

  it('is not believed with several audiences, unless it was issued to this client', async () => {
    await start(false, [allow]);
    const { clientId } = relay().provider.registration;
    claims = { ...good, aud: [clientId, 'another'] };
    expect((await logIn()).status).to.equal(400);
    expect(lastLine()).to.deep.include({ fields: [{ field: 'azp', reason: 'missing' }] });
    claims = { ...good, aud: [clientId, 'another'], azp: clientId };
    expect((await logIn()).status).to.equal(200);
  });

  for (const [what, token, reason] of [
    ['no token', undefined, 'missing'],
    ['an empty one', '', 'missing'],
    ['an object', {}, 'missing'],
    ['no JWT', 'a.b', 'shape'],
    ['an encrypted one', 'a.b.c.d.e', 'shape'],
    ['a list', `${part({})}.${part([])}.x`, 'shape'],
    ['a very long one', `${part({})}.${'a'.repeat(20_000)}.x`, 'missing'],
  ] as const) {
    it(`is not believed with ${what}`, async () => {
      await start(false, [allow]);
      makeToken = () => token;
      expect((await logIn()).status).to.equal(400);
      expect(lastLine()).to.deep.include({ outcome: 'identity_unknown', fields: [{ field: 'id_token', reason }] });
    });
  }

  it('is not believed with the ID token of another login of the same person', async () => {
    await start(false, [allow]);
    const used: object[] = [];
    makeToken = (payload) => {
      used.push(payload);
      return plain(used[0] ?? {});
    };
    expect((await logIn()).status).to.equal(200);
    expect((await logIn()).status).to.equal(400);
    expect(lastLine()).to.deep.include({ fields: [{ field: 'nonce', reason: 'mismatch' }] });
  });

  for (const delivery of ['query', 'session'] as const) {
    it(`lets people in and refuses them with the delivery ${delivery}`, async () => {
      await start(false, [allow], `  app: { origin: https://app.relay.example, token-delivery: ${delivery} }\n`);
      const logInPlainly = async () => {
        const browser = relay().browser();
        return await browser.open(await browser.consent(relay().provider));
      };
      const answer = await logInPlainly();
      expect(answer.status, `${answer.body}`).to.equal(307);
      expect(JSON.stringify(answer.headers)).not.to.contain(secretOfToken);
      expect(lookups()).to.deep.equal([]);
      claims = { ...good, 'cognito:groups': ['users'] };
      await logInPlainly();
      expect(lastLine()).to.include({ outcome: 'access_refused' });
      claims = { ...good, nonce: 'A'.repeat(22) };
      await logInPlainly();
      expect(lastLine()).to.include({ outcome: 'identity_unknown' });
    });
  }

  it('refuses a callback without a state, since nothing says whose nonce its code has', async () => {
    await start(false, [allow], '  app: { origin: https://app.example, token-delivery: query }\n');
    const code = canary('code');
    nonces.set(code, 'A'.repeat(22));
    const answer = await relay().send({ path: `/auth/provider/callback?code=${code}` });
    expect(answer.status, `${answer.body}`).to.equal(400);
    const fields = [{ field: 'nonce', reason: 'mismatch' }];
    expect(lastLine()).to.deep.include({ outcome: 'identity_unknown', fields });
  });

  it('does not request an ID token if the relay does not read it', async () => {
    await start(false, []);
    const answer = await relay().send({ path: '/api/user', headers: [['Authorization', 'Bearer a-token']] });
    expect(answer.status).to.equal(404);
    expect(`${jsonOf(answer)['detail']}`).to.contain('no user endpoint');
  });
});

const file = (provider: string) => `base-url: https://login.example.com
key-file: ./key
providers:
  p: { client-id: a, client-secret: b, ${provider} }
front-ends:
  app: { origin: https://app.example.com }
`;
const byHand = 'authorize-url: https://id.example/a, token-url: https://id.example/t';

describe('the setting user-from', () => {
  for (const [provider, fault] of [
    [`${byHand}, user-url: https://id.example/u, scope: openid, user-from: id-token`, 'which needs'],
    ['provider: keycloak, provider-host: id.example, provider-tenant: x, user-from: id-token', 'which needs'],
    [`issuer: ${issuer}, scope: profile, user-from: id-token`, 'needs openid in'],
    [`issuer: ${issuer}, user-from: id-token, state-check: off`, 'needs'],
    [`issuer: ${issuer}, user-from: token`, 'providers.p.user-from must be'],
    ['provider: google, user-from: id-token, allow: { organizations: [x] }', 'cannot be asked at the provider p'],
  ] as const) {
    it(`has a fault: ${provider}`, () => {
      const faults = faultsOfFile(file(provider));
      expect(faults, faults.join('\n')).to.have.length(1);
      expect(faults[0]).to.contain(fault);
    });
  }

  it('has a fault if a front end asks for no ID token', () => {
    const text = file(`issuer: ${issuer}, user-from: id-token`).replace('.com }', '.com, scope: profile }');
    expect(faultsOfFile(text)).to.have.length(1);
    expect(faultsOfFile(text)[0]).to.match(/front-ends\.app\.scope.* must have openid/);
  });

  for (const provider of [
    `issuer: ${issuer}, user-from: id-token`,
    `issuer: ${issuer}, ${byHand}, scope: openid, user-from: id-token`,
    'provider: google, user-from: id-token, allow: { email-domains: [example.com] }',
    `issuer: ${issuer}, user-from: user-endpoint`,
  ]) {
    it(`is good: ${provider}`, () => {
      expect(readFileConfig(file(provider)).warnings).to.be.an('array');
    });
  }

  it('keeps the domain of a Workspace at Google', () => {
    const { provider } = readFileConfig(file('provider: google, user-from: id-token')).config.registrations[0];
    expect('known' in provider && provider.known.access?.emailDomains).to.include({ isDomain: true });
  });
});
