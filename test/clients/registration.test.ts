import { expect } from 'chai';
import { navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/request.ts';
import { encoded, oauthStart } from '../harness/login/oauth-front-end.ts';
import { baseUrl } from '../harness/relay/relay-under-test.ts';
import {
  type ClientsRelay,
  clientsRelay,
  jsonOf,
  locationOf,
  loopback,
  type Question,
} from './support/clients-relay.ts';

const frontEnds = `  app: { origin: https://app.example }
  tools:
    kind: native
    refresh-tokens: bearer
    scope: read write
    clients: { registration: true, days: 30 }
`;
const settings = { frontEnds, provider: 'scope: read write admin' };
const relay = clientsRelay(() => settings);

async function register(metadata: object, headers: [string, string][] = []): Promise<Answer> {
  return await relay().post('register', JSON.stringify(metadata), headers);
}

async function clientId(metadata: object = {}): Promise<string> {
  const answer = await register({ redirect_uris: [loopback], ...metadata });
  expect(answer.status, `${answer.body}`).to.equal(201);
  return `${jsonOf(answer)['client_id']}`;
}

const ask = (...given: Parameters<ClientsRelay['ask']>) => relay().ask(...given);
const decide = (...given: Parameters<ClientsRelay['decide']>) => relay().decide(...given);
const agree = (question: Question) => relay().agree(question);

/** Whether a page of this origin may read the answer, and whether with credentials. */
const corsOf = ({ headers }: Answer) => [
  headers['access-control-allow-origin'],
  headers['access-control-allow-credentials'],
];

function expectRefused({ status, headers }: Answer, expected = 400): void {
  expect(status).to.equal(expected);
  expect(headers).not.to.have.any.keys('location', 'set-cookie');
}

describe('a client that registers itself', () => {
  it('logs in after consent, refreshes, and does both after a restart', async () => {
    const client_id = await clientId({ client_name: 'My tool' });
    for (const _ of [1, 2]) {
      const redirect_uri = 'http://127.0.0.1:51123/callback';
      const question = await ask({ client_id, redirect_uri });
      expect(question.page.status).to.equal(200);
      const { back, code } = await agree(question);
      expect(back.origin + back.pathname).to.equal(redirect_uri);
      expect(back.searchParams.get('state')).to.equal(question.start.state);
      const tokens = jsonOf(await relay().redeem(question.start, code));
      const refreshed = jsonOf(await relay().refresh(client_id, `${tokens['refresh_token']}`));
      expect(refreshed['access_token']).to.be.a('string');
      await relay().restart(settings);
      const again = await relay().refresh(client_id, `${refreshed['refresh_token']}`);
      expect(again.status).to.equal(200);
    }
  });

  it('can register the longest redirect URI', async () => {
    const redirect_uri = `http://127.0.0.1/${'x'.repeat(495)}`;
    const client_id = await clientId({ redirect_uris: [redirect_uri] });
    expect((await ask({ client_id, redirect_uri })).page.status).to.equal(200);
  });

  it('learns that it is a public client with these redirect URIs', async () => {
    const answer = await register({
      redirect_uris: [loopback],
      client_name: 'My tool',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['implicit'],
      software_statement: 'x',
      'x-unknown': 1,
    });
    expect(answer.status).to.equal(201);
    expect(answer.headers['cache-control']).to.equal('no-store');
    const { client_id, ...others } = jsonOf(answer);
    expect(client_id).to.match(/^tools\.lr1_/);
    expect(others).to.deep.equal({
      client_name: 'My tool',
      redirect_uris: [loopback],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
  });

  it('is in the metadata', async () => {
    const path = '/.well-known/oauth-authorization-server/auth/provider';
    const metadata = jsonOf(await relay().send({ path }));
    expect(metadata).to.include({ registration_endpoint: `${baseUrl}/auth/provider/register` });
    expect(metadata).not.to.have.property('client_id_metadata_document_supported');
  });

  it('can have the redirect URIs of editors, and logs in at each', async () => {
    const redirect_uris = [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
      'vscode://publisher.ext/auth/callback',
      'vscode-insiders://publisher.ext/auth/callback',
      'com.example.app:/callback',
    ];
    const answer = await register({ redirect_uris });
    expect([answer.status, jsonOf(answer)['redirect_uris']]).to.deep.equal([201, redirect_uris]);
    const client_id = `${jsonOf(answer)['client_id']}`;
    for (const redirect_uri of redirect_uris) {
      const question = await ask({ client_id, redirect_uri });
      const { back, code } = await agree(question);
      expect(back.href.startsWith(`${redirect_uri}?`), back.href).to.equal(true);
      expect((await relay().redeem(question.start, code)).status).to.equal(200);
    }
    const [redirect_uri = ''] = redirect_uris;
    expect((await ask({ client_id, redirect_uri })).text).to.contain('cursor://anysphere.cursor-mcp');
    for (const other of ['cursor://evil.example/oauth/callback', 'cursor://anysphere.cursor-mcp/other']) {
      expectRefused((await ask({ client_id, redirect_uri: other })).page);
    }
  });

  for (const [uri, logged] of [
    ['unheardof://cb', 'unheardof://cb'],
    ['myapp:/x', 'myapp:/x'],
    ['http://example.com/callback?secret', 'http://example.com/callback…'],
    ['https://user:password@example.com/', 'https://…@example.com/'],
    ['https://example.com/#fragment', 'https://example.com/…'],
    ['https://*.example.com/', 'https://*.example.com/'],
    ['https://example.com/?code=1', 'https://example.com/…'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
    ['\u0001javascript:alert(1)'],
    ['java\tscript:alert(1)'],
    [' javascript:alert(1)'],
    ['data:text/html,x'],
    ['file:///x'],
    ['blob:https://example.com/x'],
    ['about:blank'],
    ['vbscript:x'],
    ['intent://x#Intent;scheme=http;end'],
    ['ms-settings://x'],
    ['x-apple.systempreferences://x'],
    [`https://example.com/${'x'.repeat(512)}`],
    [''],
  ]) {
    it(`is registered without the redirect URI ${JSON.stringify(uri)?.slice(0, 60)}, and with the others`, async () => {
      const answer = await register({ redirect_uris: [uri, loopback, uri] });
      expect([answer.status, jsonOf(answer)['redirect_uris']]).to.deep.equal([201, [loopback]]);
      const client_id = `${jsonOf(answer)['client_id']}`;
      if (logged !== undefined) {
        expect(relay().lines.at(-1)).to.deep.include({ asked: `${logged} ${logged}`, status: 201 });
      }
      expectRefused((await ask({ client_id, redirect_uri: uri })).page);
      expect((await ask({ client_id })).page.status).to.equal(200);
      const alone = await register({ redirect_uris: [uri] });
      expect(alone.status).to.equal(400);
      expect(jsonOf(alone)).to.include({ error: 'invalid_redirect_uri' });
    });
  }

  it('cannot register a list with something else than texts', async () => {
    for (const uri of [1, null, [loopback], { toString: loopback }]) {
      const answer = await register({ redirect_uris: [loopback, uri] });
      expect(answer.status).to.equal(400);
      expect(jsonOf(answer)).to.include({ error: 'invalid_redirect_uri' });
    }
  });

  const long = Array.from({ length: 12 }, (_, i) => `https://example.com/${i}${'x'.repeat(400)}`);
  for (const [what, body, status, error] of [
    ['no redirect URIs', {}, 400, 'invalid_redirect_uri'],
    ['an empty list of redirect URIs', { redirect_uris: [] }, 400, 'invalid_redirect_uri'],
    ['no list', { redirect_uris: 'https://example.com/' }, 400, 'invalid_redirect_uri'],
    ['21 redirect URIs', { redirect_uris: Array(21).fill(loopback) }, 400, 'invalid_redirect_uri'],
    ['more than 4 KiB in its identifier', { redirect_uris: long }, 400, 'invalid_client_metadata'],
    ['an array', [], 400, 'invalid_client_metadata'],
    ['more than 16 KiB', { a: 'x'.repeat(17_000) }, 413, 'invalid_request'],
  ] as const) {
    it(`cannot register ${what}`, async () => {
      const answer = await register(body);
      expect(answer.status).to.equal(status);
      expect(jsonOf(answer)).to.include({ error });
    });
  }

  it('registers only by POST with JSON', async () => {
    expect((await relay().post('register', { redirect_uris: loopback })).status).to.equal(415);
    expect((await relay().send({ path: '/auth/provider/register' })).status).to.equal(405);
  });

  it('cannot register pages of others from a page, which could read the identifier', async () => {
    for (const [host, status] of [
      ['a', 201],
      ['b', 403],
    ] as const) {
      const origin = `https://${host}.example`;
      const metadata = { redirect_uris: ['https://a.example/in'] };
      const answer = await register(metadata, [['Origin', origin]]);
      expect(answer.status).to.equal(status);
      expect(corsOf(answer)).to.deep.equal([status === 201 ? origin : undefined, undefined]);
    }
  });

  it('ends when its days are over, at the start and at the token endpoint', async () => {
    const client_id = await clientId();
    const question = await ask({ client_id });
    const { code } = await agree(question);
    relay().ahead = 30 * 86_400_000 + 1000;
    const answer = await relay().redeem(question.start, code);
    expect(answer.status).to.equal(401);
    expect(jsonOf(answer)).to.include({ error: 'invalid_client' });
    expectRefused((await ask({ client_id })).page, 401);
  });

  it('is refused with an identifier that is altered, of another front end, or in another place', async () => {
    const id = await clientId();
    const middle = id.length / 2;
    const wrong = [
      id.slice(0, -1),
      `${id}A`,
      id.slice(0, middle) + (id[middle] === 'A' ? 'B' : 'A') + id.slice(middle + 1),
      id.replace('tools.', 'app.'),
      id.replace('tools.', ''),
      id.replace('tools.', 'tools..'),
      'tools.lr1_',
    ];
    for (const client_id of wrong) {
      expectRefused((await ask({ client_id })).page);
      const refreshed = jsonOf(await relay().refresh(client_id, 'x'));
      expect(refreshed).to.include({ error: 'invalid_client' });
    }
    const { parameters } = oauthStart({ client_id: id, redirect_uri: loopback });
    for (const name of ['app', 'tools']) {
      const path = `/auth/provider/${name}?${encoded(parameters)}`;
      expect((await relay().browser().open(path)).status).to.equal(400);
    }
    // Texts that are sealed for another purpose.
    const { token } = await ask({ client_id: id });
    expectRefused((await ask({ client_id: `tools.${token}` })).page);
    const asToken = { browser: relay().browser(), token: id.slice('tools.'.length) };
    expectRefused(await decide(asToken));
  });

  it('cannot redeem the code, or use the refresh token, of another client', async () => {
    const one = await clientId();
    const other = await clientId();
    const question = await ask({ client_id: one });
    const { start } = question;
    const { code } = await agree(question);
    for (const client_id of [other, 'tools', 'app']) {
      const answer = await relay().redeem(start, code, { client_id });
      expect(answer.status).to.equal(400);
    }
    const tokens = jsonOf(await relay().redeem(start, code));
    for (const client_id of [other, 'tools']) {
      const answer = await relay().refresh(client_id, `${tokens['refresh_token']}`);
      expect(jsonOf(answer)).to.include({ error: 'invalid_grant' });
    }
  });

  it('gets its scope narrowed to the configured scope, and nothing else changed', async () => {
    const client_id = await clientId();
    for (const [scope, granted] of [
      ['read openid admin everything', 'read'],
      ['everything', 'read write'],
      [undefined, 'read write'],
      ['write', 'write'],
    ]) {
      const { text, token, browser } = await ask({ client_id, scope });
      expect(text).to.contain(`<ul>${granted?.replaceAll(/(\w+) ?/g, '<li>$1\n').trim()}</ul>`);
      const request = locationOf(await decide({ browser, token }));
      expect(request.searchParams.get('scope')).to.equal(granted);
    }
  });

  it('names the resource of its start, or none, at redemption and refresh', async () => {
    const client_id = await clientId();
    const resource = 'https://mcp.example.com/mcp';
    const question = await ask({ client_id, resource });
    const { start } = question;
    const { code } = await agree(question);
    const wrong = await relay().redeem(start, code, { resource: 'https://other.example/' });
    expect(jsonOf(wrong)).to.include({ error: 'invalid_target' });
    const tokens = jsonOf(await relay().redeem(start, code, { resource }));
    const refresh_token = `${tokens['refresh_token']}`;
    const request = { grant_type: 'refresh_token', client_id, refresh_token };
    const refresh = (named: string) => relay().post('token', { ...request, resource: named });
    expect(jsonOf(await refresh(`${resource}/`))).to.include({ error: 'invalid_target' });
    expect((await refresh(resource)).status).to.equal(200);
    for (const bad of ['no url', 'https://mcp.example.com/#x', [resource, resource]]) {
      expect((await ask({ client_id, resource: bad })).page.status).to.equal(400);
    }
  });

  for (const changes of [
    { redirect_uri: 'https://evil.example/' },
    { redirect_uri: 'http://127.0.0.1:4000/other' },
    { code_challenge_method: 'plain' },
    { code_challenge: undefined },
    { response_type: 'token', code_challenge: 'x' },
    { response_mode: 'fragment' },
  ]) {
    it(`is never redirected to before consent: ${Object.entries(changes)[0]}`, async () => {
      expectRefused((await ask({ client_id: await clientId(), ...changes })).page);
    });
  }

  it('is redirected to from the callback only in the browser that was asked', async () => {
    const { token, browser } = await ask({ client_id: await clientId() });
    const request = locationOf(await decide({ browser, token }));
    const state = request.searchParams.get('state') ?? '';
    const callback = `/auth/provider/callback?${new URLSearchParams({ error: 'access_denied', state })}`;
    for (const ahead of [0, 86_400_000]) {
      relay().ahead = ahead;
      expectRefused(await relay().browser().open(callback));
    }
    relay().ahead = 0;
    const back = locationOf(await browser.open(callback));
    expect(back.searchParams.get('error')).to.equal('access_denied');
  });

  it('may start from its own page', async () => {
    relay().lines.length = 0;
    const headers: [string, string][] = [['Referer', 'https://a.example/']];
    const { parameters } = oauthStart({ client_id: await clientId(), redirect_uri: loopback });
    const path = `/auth/provider?${encoded(parameters)}`;
    expect((await relay().send({ path, headers })).status).to.equal(200);
    expect(JSON.stringify(relay().lines)).not.to.contain('page of another origin');
  });

  it('makes token requests from its own pages only; others cannot read the answer', async () => {
    const client_id = await clientId({ redirect_uris: ['https://a.example/in', loopback] });
    for (const [origin, mayRead] of [
      ['https://a.example', true],
      ['http://127.0.0.1:9999', true],
      ['https://b.example', false],
      ['null', false],
    ] as const) {
      const answer = await relay().refresh(client_id, 'x', [['Origin', origin]]);
      expect(answer.status).to.equal(mayRead ? 400 : 403);
      expect(corsOf(answer)).to.deep.equal([mayRead ? origin : undefined, undefined]);
    }
  });

  it('gets preflights answered at any page, without credentials, at these endpoints only', async () => {
    const preflight = async (path: string, origin?: string) => corsOf(await relay().preflight(path, origin)).join();
    for (const path of ['token', 'revoke', 'register']) {
      expect(await preflight(`/auth/provider/${path}`)).to.equal('https://any.example,');
    }
    expect(await preflight('/api/user')).to.equal('https://any.example,');
    const own = 'https://app.example';
    expect(await preflight('/api/user', own)).to.equal(`${own},true`);
    for (const path of ['', '/consent', '/callback', '/tools']) {
      expect(await preflight(`/auth/provider${path}`)).to.equal(',');
    }
    expect(await preflight('/auth/session')).to.equal(',');
  });
});

describe('a registration next to a registration with unregistered clients', () => {
  const both = clientsRelay(() => ({
    provider: 'scope: read\n  closed: { provider: github, client-id: x, client-secret: y }',
    frontEnds: `  app: { origin: https://app.example, providers: [closed] }
  tools: { kind: native, providers: [provider], clients: { registration: true } }
`,
  }));

  it('is read at the pages of its own front ends only', async () => {
    const any = 'https://any.example';
    for (const [path, allowed] of [
      ['/auth/provider/token', any],
      ['/api/user?provider=provider', any],
      ['/auth/closed/token', undefined],
      ['/auth/closed/register', undefined],
      ['/api/user?provider=closed', undefined],
      ['/api/user?provider=closed&provider=provider', undefined],
    ]) {
      const { headers } = await both().preflight(`${path}`, any);
      expect(headers['access-control-allow-origin'], path).to.equal(allowed);
    }
  });
});

describe('the limit of registrations', () => {
  const limited = clientsRelay(() => ({ frontEnds, relay: 'trusted-proxies: 127.0.0.1' }));

  it('is 60 in ten minutes for a client address, or the rate limit if that is less', async () => {
    const from = async (address: string) => {
      const body = JSON.stringify({ redirect_uris: [loopback] });
      return (await limited().post('register', body, [['X-Forwarded-For', address]])).status;
    };
    for (let count = 0; count < 60; count += 1) expect(await from('198.51.100.1')).to.equal(201);
    expect(await from('198.51.100.1')).to.equal(429);
    // One address in 65,536 shares the counter of another address.
    expect([await from('198.51.100.2'), await from('198.51.100.4')]).to.include(201);
    limited().ahead += 601_000;
    expect(await from('198.51.100.1')).to.equal(201);
    await limited().restart({ frontEnds, relay: 'trusted-proxies: 127.0.0.1\nrate-limit: 3' });
    for (let count = 0; count < 3; count += 1) expect(await from('198.51.100.3')).to.equal(201);
    expect(await from('198.51.100.3')).to.equal(429);
  });
});

describe('the consent of a person', () => {
  const hostile = `<b>Git\u202eHub</b>\u0000\n\u200b"'&${'x'.repeat(200)}`;

  it('shows who asks for what, with a short name that does nothing', async () => {
    const client_id = await clientId({ client_name: hostile });
    const { page, text } = await ask({ client_id });
    expect(text).to.contain('Nobody checked who made it.');
    expect(text).to.contain('a program on this device (127.0.0.1)');
    expect(text).to.contain('<li>read\n<li>write');
    expect(text).to.contain('&lt;b&gt;Git Hub&lt;/b&gt;');
    expect(text).not.to.match(/[\u202a-\u202e\u2066-\u2069\u200b\0]/);
    expect(/<bdi>(.*)<\/bdi>/.exec(text)?.[1]?.replace(/&\w+;|&#39;/g, '.')).to.have.lengthOf(41);
    const policy = `${page.headers['content-security-policy']}`;
    expect(policy).to.contain("default-src 'none'").and.contain("frame-ancestors 'none'");
    expect(policy).to.match(/script-src 'sha256-[^' ]+';/);
    expect(page.headers['cache-control']).to.equal('no-store, no-transform');
    expect(page.headers['document-policy']).to.equal('force-load-at-top');
    expect(text).to.contain('<script data-cfasync="false">');
  });

  it('shows where a page or an app gets the login', async () => {
    const redirect_uris = [
      'https://tools.example.com/in',
      'com.example.app:/in',
      'https://accounts.google.com.evil.co.uk:8443/in',
      'https://accounts.google.com.mallory.gitpod.io/in',
      'https://xn--aypal-uye.com/in',
    ];
    const client_id = await clientId({ redirect_uris });
    for (const [redirect_uri, shown] of [
      [redirect_uris[0], '<dd><i>tools.</i><b>example.com</b></div>'],
      [redirect_uris[1], 'an app on this device (com.example.app)'],
      [redirect_uris[2], '<dd><i>accounts.google.com.</i><b>evil.co.uk:8443</b></div>'],
      [redirect_uris[3], '<dd><i>accounts.google.com.</i><b>mallory.gitpod.io</b></div>'],
      [redirect_uris[4], '<dd>xn--aypal-uye.com</div>'],
    ]) {
      expect((await ask({ client_id, redirect_uri })).text).to.contain(shown);
    }
  });

  it('is asked again at each login', async () => {
    const client_id = await clientId();
    const question = await ask({ client_id });
    await agree(question);
    expect((await ask({ client_id }, question.browser)).token).not.to.equal('');
  });

  it('asks the provider for the account page, or for an account, afterwards, if the start did', async () => {
    await relay().restart({ ...settings, provider: `provider: github\n    ${settings.provider}` });
    for (const prompt of ['select_account', 'none']) {
      const question = await ask({ client_id: await clientId(), prompt, login_hint: 'ada&c' });
      const { searchParams: asked } = locationOf(await decide(question));
      expect(asked.get('prompt')).to.equal(prompt === 'select_account' ? prompt : null);
      expect(asked.getAll('login')).to.deep.equal(['ada&c']);
    }
    await relay().restart(settings);
  });

  it('is asked once more, elsewhere, in a browser without scripts', async () => {
    const question = await ask({ client_id: await clientId() });
    const again = await decide(question, 'continue');
    expect(again.status).to.equal(200);
    expect(`${again.body}`).to.contain('name="number"').and.not.contain('<script');
    expect(`${again.body}`).to.contain('a program on this device (127.0.0.1)');
    expect(`${again.body}`).to.contain(question.token);
    expect(again.headers['document-policy']).to.equal('force-load-at-top');
    expect((await agree(question)).code).not.to.equal('');
  });

  it('is given without scripts by digits beside the client, the address of the login, and each permission', async () => {
    const question = await ask({ client_id: await clientId({ client_name: 'My tool' }) });
    const { body } = await decide(question, 'continue');
    const beside = [...`${body}`.matchAll(/([^\n>]+)(?:<[^>]+>)* <kbd>(\d+)<\/kbd>/g)];
    const [, ...parts] = beside.map(([, text]) => text?.trim());
    expect(beside[0]?.[0]).to.contain('My tool');
    expect(parts).to.deep.equal(['a program on this device (127.0.0.1)', 'read', 'write']);
    const number = beside.map(([, , digits]) => digits).join('');
    expect(number).to.match(/^\d{4}$/);
    const { token: consent, browser } = question;
    const answer = (typed: string) => {
      const form = { consent, decision: 'continue', number: typed };
      return relay().post('consent', form, navigationWith('Sec-Fetch-Site', 'same-origin'), browser);
    };
    const wrong = `${(Number(number[0]) + 1) % 10}${number.slice(1)}`;
    for (const typed of ['', wrong, number.slice(0, 3)]) expect((await answer(typed)).status).to.equal(200);
    expect((await answer(number)).status).to.equal(303);
  });

  it('shows a name whose marks cover no other line', async () => {
    const client_id = await clientId({ client_name: `Z${'\u0351'.repeat(30)} กำลัง เครื่อง` });
    expect((await ask({ client_id })).text).to.contain(`<bdi>Z${'\u0351'.repeat(3)} กำลัง เครื่อง</bdi>`);
  });

  it('goes back with access_denied if it is refused, and the provider is not asked', async () => {
    const { token, browser, start } = await ask({ client_id: await clientId() });
    const answer = await decide({ browser, token }, 'cancel');
    expect(answer.status).to.equal(303);
    const back = locationOf(answer);
    expect(back.origin + back.pathname).to.equal(loopback);
    expect(back.searchParams.get('error')).to.equal('access_denied');
    expect(back.searchParams.get('state')).to.equal(start.state);
    expect(back.searchParams.get('iss')).to.equal(`${baseUrl}/auth/provider`);
    expect(relay().provider.calls).to.deep.equal([]);
  });

  it('counts once, in the browser that was asked; the redirect is a 303, which sends no form on', async () => {
    const { token, browser } = await ask({ client_id: await clientId() });
    const other = relay().browser();
    await ask({ client_id: await clientId() }, other);
    for (const one of [other, relay().browser()]) expectRefused(await decide({ browser: one, token }));
    expect((await decide({ browser, token })).status).to.equal(303);
    const again = await decide({ browser, token });
    expect(again.status).to.equal(400);
    expect(`${again.body}`).to.contain('already finished');
  });

  it('does not count when it is altered, late, or a state', async () => {
    const { token, browser } = await ask({ client_id: await clientId() });
    for (const wrong of [`${token.slice(0, -2)}AA`, '']) {
      expectRefused(await decide({ browser, token: wrong }));
    }
    const request = locationOf(await decide({ browser, token }));
    const state = request.searchParams.get('state') ?? '';
    expect((await decide({ browser, token: state })).status).to.equal(400);
    const late = await ask({ client_id: await clientId() }, browser);
    // The text of a question does not open as a state either.
    const callback = `/auth/provider/callback?code=x&state=${late.token}`;
    expect((await browser.open(callback)).status).to.equal(400);
    relay().ahead = 601_000;
    expect((await decide(late)).status).to.equal(400);
    expect(relay().provider.calls).to.deep.equal([]);
  });

  it('does not count from pages of others, in frames, or by a link', async () => {
    const { token, browser } = await ask({ client_id: await clientId() });
    const sameOrigin = navigationWith('Sec-Fetch-Site', 'same-origin');
    const evil: [string, string] = ['Origin', 'https://evil.example'];
    const sameSite = navigationWith('Sec-Fetch-Site', 'same-site');
    for (const headers of [navigation, sameSite, [...sameOrigin, evil]]) {
      expect((await decide({ browser, token }, 'confirmed', headers)).status).to.equal(403);
    }
    const get = await browser.open(`/auth/provider/consent?consent=${token}&decision=confirmed`);
    expect(get.status).to.equal(405);
    const { parameters } = oauthStart({ client_id: await clientId(), redirect_uri: loopback });
    const framed = await browser.open(`/auth/provider?${encoded(parameters)}`, {
      headers: navigationWith('Sec-Fetch-Dest', 'iframe'),
    });
    expect(framed.status).to.equal(400);
    expect(`${framed.body}`).not.to.contain('name="consent"');
  });
});

describe('a client whose scheme the operator has listed', () => {
  const withSchemes = (schemes: string) => ({
    frontEnds: `  tools: { kind: native, clients: { registration: true, schemes: [${schemes}] } }\n`,
  });
  const own = clientsRelay(() => withSchemes('acmeide'));

  it('logs in with this scheme, until a reload removes the scheme', async () => {
    const redirect_uri = 'acmeide://cb';
    const metadata = JSON.stringify({ redirect_uris: ['AcmeIDE://cb', 'otheride://cb', loopback] });
    const answer = jsonOf(await own().post('register', metadata));
    expect(answer['redirect_uris']).to.deep.equal(['AcmeIDE://cb', loopback]);
    const client_id = `${answer['client_id']}`;
    const { back } = await own().agree(await own().ask({ client_id, redirect_uri }));
    expect(back.href).to.match(/^acmeide:\/\/cb\?/);
    await own().restart(withSchemes('another'));
    expectRefused((await own().ask({ client_id, redirect_uri })).page);
    expect((await own().ask({ client_id })).page.status).to.equal(200);
  });
});

describe('a relay whose clients are all registered', () => {
  const plain = clientsRelay(() => ({
    frontEnds:
      '  register: { origin: https://app.example }\n  tools: { kind: native, redirect-uris: http://localhost/ }\n',
  }));

  it('says nothing of others in its metadata, and has none of their endpoints', async () => {
    const path = '/.well-known/oauth-authorization-server/auth/provider';
    const metadata = jsonOf(await plain().send({ path }));
    const keys = ['registration_endpoint', 'client_id_metadata_document_supported'];
    expect(metadata).not.to.have.any.keys(...keys);
    expect((await plain().post('register', '{}')).status).to.equal(405);
    expect((await plain().post('consent', {})).status).to.equal(404);
    const { headers } = await plain().preflight('/auth/provider/token');
    expect(headers).not.to.have.property('access-control-allow-origin');
  });

  it('fetches no document', async () => {
    const { parameters } = oauthStart({ client_id: 'https://tools.example.com/client.json' });
    expect((await plain().open(plain().browser(), parameters)).status).to.equal(400);
  });
});
