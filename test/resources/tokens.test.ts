import { expect } from 'chai';
import { jsonOf, locationOf, loopback } from '../clients/support/clients-relay.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import {
  ada,
  bearer,
  check,
  files,
  introspect,
  logIn,
  notes,
  ofApp,
  resourcesRelay,
  secret,
  secrets,
  settings,
  tokensOf,
} from './support/resources-relay.ts';

const relay = resourcesRelay();
const ofNotes = { ...ofApp, resource: notes };
const isProviderToken = (answer: unknown) =>
  relay().provider.calls.some(({ credential }) => `${answer}`.includes(credential));

describe('a login for a resource', () => {
  it('gives a token of the relay, and who the person is', async () => {
    const answer = await logIn(relay(), ofNotes);
    const tokens = tokensOf(answer);
    expect(tokens).to.include({ token_type: 'Bearer', expires_in: 3600, scope: 'notes:read' });
    expect(tokens['identity']).to.deep.equal({
      sub: '42',
      preferred_username: 'ada',
      email: 'ada@example.com',
      groups: ['staff', 'a, b'],
    });
    expect(isProviderToken(answer.body)).to.equal(false);
    const checked = await check(relay(), 'notes', bearer(tokens.access_token));
    expect(checked.status).to.equal(204);
    expect(checked.headers).to.include({
      'x-forwarded-user': '42',
      'x-forwarded-preferred-username': 'ada',
      'x-forwarded-email': 'ada@example.com',
      'x-forwarded-groups': 'staff,a%2C%20b',
    });
    const told = await introspect(relay(), 'notes', tokens.access_token);
    expect(told).to.deep.include({
      active: true,
      iss: `${relay().address}/auth/provider`,
      aud: notes,
      sub: '42',
      client_id: 'app',
      scope: 'notes:read',
      username: 'ada',
      email: 'ada@example.com',
      groups: ['staff', 'a, b'],
      token_type: 'Bearer',
    });
  });

  it('passes on no address that two programs would read in two ways', async () => {
    relay().provider.knows(json({ ...ada, email: 'mallory@evil.test@example.com' }));
    const { access_token, identity } = tokensOf(await logIn(relay(), ofNotes));
    expect(identity).not.to.have.property('email');
    expect((await check(relay(), 'notes', bearer(access_token))).headers['x-forwarded-email']).to.equal('');
    expect(await introspect(relay(), 'notes', access_token)).not.to.have.property('email');
  });

  it('tells a resource no more than its file says', async () => {
    const { access_token, identity } = tokensOf(await logIn(relay(), { ...ofApp, resource: files }));
    expect(identity).to.deep.equal({ sub: '42', preferred_username: 'ada' });
    const { headers } = await check(relay(), 'files', bearer(access_token));
    expect(headers).to.include({ 'x-forwarded-email': '', 'x-forwarded-groups': '' });
    expect(await introspect(relay(), 'files', access_token)).not.to.have.any.keys('email', 'groups');
  });

  it('is for the resource that it names, in any spelling of the same URL', async () => {
    for (const resource of ['https://NOTES.example.com:443/mcp', `${notes}/`]) {
      const { access_token } = tokensOf(await logIn(relay(), { ...ofApp, resource }));
      expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(204);
    }
  });

  for (const [what, resource] of [
    ['none of several', ''],
    ['one below it', `${notes}/more`],
    ['a part of it', 'https://notes.example.com'],
    ['another one', 'https://other.example.com/mcp'],
    ['one with a query', `${notes}?a`],
  ] as const) {
    it(`does not start if it names ${what}`, async () => {
      const back = await relay()
        .browser()
        .open(
          '/auth/provider?' +
            new URLSearchParams({
              ...ofApp,
              resource,
              response_type: 'code',
              code_challenge_method: 'S256',
              code_challenge: 'a'.repeat(43),
            }),
        );
      expect(locationOf(back).searchParams.get('error')).to.equal('invalid_target');
    });
  }

  it('is for the only resource of its front end if it names none', async () => {
    const { id, code, start } = await programLogin();
    const tokens = tokensOf(await relay().redeem(start, code));
    const { client_id } = await introspect(relay(), 'notes', tokens.access_token);
    expect(client_id).to.be.a('string').that.is.not.oneOf([id, 'tools']);
  });

  it('keeps the provider from being asked for its scope', async () => {
    const { location } = await relay().logIn({ ...ofNotes, scope: 'notes:read' });
    expect(location.searchParams.get('code')).to.be.a('string');
  });

  it('has a token that opens no other resource', async () => {
    const tokens = {
      notes: tokensOf(await logIn(relay(), ofNotes)),
      files: tokensOf(await logIn(relay(), { ...ofApp, resource: files })),
    };
    const plain = tokensOf(await logIn(relay(), { client_id: 'plain', redirect_uri: 'https://plain.example/' }));
    const { code } = await relay().logIn(ofNotes);
    const others = [plain.access_token, plain.refresh_token, tokens.notes.refresh_token, code];
    for (const door of ['notes', 'files'] as const) {
      for (const [of, { access_token }] of Object.entries(tokens)) {
        const opens = of === door;
        expect((await check(relay(), door, bearer(access_token))).status).to.equal(opens ? 204 : 401);
        expect(await introspect(relay(), door, access_token)).to.include({ active: opens });
      }
      for (const other of others) {
        expect((await check(relay(), door, bearer(other))).status).to.equal(401);
        expect(await introspect(relay(), door, other)).to.deep.equal({ active: false });
      }
    }
    const lookUp = await relay().send({
      path: '/api/user',
      headers: [bearer(tokens.notes.access_token)],
    });
    expect(lookUp.status).to.equal(401);
    expect(jsonOf(lookUp)['detail']).to.include('identity');
    expect(relay().provider.calls.map(({ credential }) => credential)).not.to.include(tokens.notes.access_token);
  });

  it('is open only to people whom the resource allows', async () => {
    const allowed = (user: string) => ({
      ...settings,
      relay: settings.relay?.replace('scope:', `allow: { users: ['${user}'] }, scope:`) ?? '',
    });
    await relay().restart(allowed('43'));
    const refused = await logIn(relay(), ofNotes);
    expect(refused.status).to.equal(400);
    expect(jsonOf(refused)).to.include({ error: 'access_denied' });
    await relay().restart(allowed('42'));
    expect((await logIn(relay(), ofNotes)).status).to.equal(200);
    await relay().restart(settings);
  });

  it('asks the person also for what the resource learns', async () => {
    const { question } = await programQuestion();
    expect(question.text).to.contain('<li>your e-mail address\n<li>your groups');
  });

  it('gives no token of what does not fit', async () => {
    const groups = Array.from({ length: 400 }, (_, index) => `a group with a long name ${index}`);
    relay().provider.onUser = (response) => void response.end(JSON.stringify({ ...ada, groups }));
    const answer = await logIn(relay(), ofNotes);
    expect(answer.status).to.equal(400);
    expect(jsonOf(answer)).to.include({ error: 'access_denied' });
  });
});

/** The question to a person about a program that registers itself. */
async function programQuestion() {
  const metadata = JSON.stringify({ redirect_uris: [loopback] });
  const id = `${jsonOf(await relay().post('register', metadata))['client_id']}`;
  return { id, question: await relay().ask({ client_id: id }) };
}

/** A whole login of a program that registers itself. */
async function programLogin() {
  const { id, question } = await programQuestion();
  expect(question.text).to.contain(notes.replace('https://', ''));
  const { code } = await relay().agree(question);
  return { id, code, start: question.start };
}

describe('the refresh token of a login for a resource', () => {
  it('gives the next token, for this resource only', async () => {
    const first = tokensOf(await logIn(relay(), ofNotes));
    relay().provider.calls.length = 0;
    const answers = await Promise.all(Array.from({ length: 10 }, () => relay().refresh('app', first.refresh_token)));
    for (const answer of answers) {
      const { access_token, identity } = tokensOf(answer);
      expect(identity).to.deep.include({ sub: '42', email: 'ada@example.com' });
      expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(204);
      expect((await check(relay(), 'files', bearer(access_token))).status).to.equal(401);
    }
    expect(relay().provider.calls.filter(({ endpoint }) => endpoint === 'refresh')).to.have.length(1);
    const form = { grant_type: 'refresh_token', client_id: 'app', resource: files };
    const refused = await relay().post('token', { ...form, refresh_token: first.refresh_token });
    expect(jsonOf(refused)).to.include({ error: 'invalid_target' });
  });

  it('also works if the provider gives no refresh token, and then the provider is asked who the person is', async () => {
    relay().provider.mood.rotation = 'none';
    const { refresh_token } = tokensOf(await logIn(relay(), ofNotes));
    relay().provider.calls.length = 0;
    const answer = await relay().refresh('app', refresh_token);
    expect(tokensOf(answer)['identity']).to.include({ sub: '42' });
    expect(isProviderToken(answer.body)).to.equal(false);
  });

  it('waits for a provider that does not answer, and no login ends', async () => {
    const { access_token, refresh_token } = tokensOf(await logIn(relay(), ofNotes));
    const { onUser } = relay().provider;
    for (const trouble of [500, 'nonsense', 'user'] as const) {
      relay().ahead += 61_000;
      if (trouble === 'user') relay().provider.onUser = (response) => void response.writeHead(500).end();
      else relay().provider.mood.trouble = trouble;
      const answer = await relay().refresh('app', refresh_token);
      expect(answer.status, `${trouble}`).to.equal(503);
      expect(jsonOf(answer)).to.include({ error: 'temporarily_unavailable' });
      expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(204);
      relay().provider.onUser = onUser;
      relay().provider.mood.trouble = undefined;
    }
    expect((await relay().refresh('app', refresh_token)).status).to.equal(200);
  });

  it('is valid again when the identity of the person is short enough again, without a new login', async () => {
    const { onUser } = relay().provider;
    const { access_token, refresh_token } = tokensOf(await logIn(relay(), ofNotes));
    relay().ahead += 61_000;
    const groups = Array.from({ length: 400 }, (_, index) => `a group with a long name ${index}`);
    relay().provider.onUser = json({ ...ada, groups });
    const refused = await relay().refresh('app', refresh_token);
    expect(jsonOf(refused)).to.include({ error: 'access_denied' });
    relay().ahead += 61_000;
    relay().provider.onUser = onUser;
    expect((await relay().refresh('app', refresh_token)).status).to.equal(200);
    expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(204);
  });
});

describe('the end of a login for a resource', () => {
  it('comes when its front end lets in no such clients any more', async () => {
    const { code, start } = await programLogin();
    const { access_token } = tokensOf(await relay().redeem(start, code));
    expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(204);
    const open = 'clients: { registration: true }';
    const frontEnds = settings.frontEnds.replace(open, 'redirect-uris: [http://127.0.0.1/in]');
    await relay().reload({ ...settings, frontEnds });
    expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(401);
    await relay().reload(settings);
  });

  for (const kind of ['access_token', 'refresh_token'] as const) {
    it(`comes with the revocation of its ${kind}, at all doors`, async () => {
      const tokens = tokensOf(await logIn(relay(), ofNotes));
      const next = tokensOf(await relay().refresh('app', tokens.refresh_token));
      const revoked = await relay().post('revoke', { client_id: 'app', token: tokens[kind] });
      expect(revoked.status, `${revoked.body}`).to.equal(200);
      for (const { access_token } of [tokens, next]) {
        expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(401);
      }
      expect((await relay().refresh('app', next.refresh_token)).status).to.equal(400);
    });
  }

  it('comes with its revocation even while its resource is removed, until a reload adds it again', async () => {
    const logins = [await logIn(relay(), ofNotes), await logIn(relay(), ofNotes)].map(tokensOf);
    const { frontEnds } = settings;
    const without = frontEnds.replace('resources: [notes, files]', 'resources: [files]');
    await relay().reload({ ...settings, frontEnds: without });
    const [first, second] = logins;
    for (const token of [first?.access_token ?? '', second?.refresh_token ?? '']) {
      const answer = await relay().post('revoke', { client_id: 'app', token });
      expect(answer.status, `${answer.body}`).to.equal(200);
    }
    await relay().reload(settings);
    for (const { access_token } of logins) {
      expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(401);
    }
  });

  it('comes after its lifetime, and the doors say that it has expired', async () => {
    const { access_token, expires_in } = tokensOf(await logIn(relay(), { ...ofApp, resource: files }));
    expect(expires_in).to.equal(300);
    relay().ahead += 240_000;
    expect((await check(relay(), 'files', bearer(access_token))).status).to.equal(204);
    relay().ahead += 61_000;
    const late = await check(relay(), 'files', bearer(access_token));
    expect(late.headers['www-authenticate']).to.include('error="invalid_token"');
    expect(relay().lines.at(-1)).to.include({
      outcome: 'resource_token_expired',
      resource: 'files',
    });
  });

  it('comes with a reload that takes the resource from the front end, changes its url, or removes it', async () => {
    const { access_token, refresh_token } = tokensOf(await logIn(relay(), ofNotes));
    const other = tokensOf(await logIn(relay(), { ...ofApp, resource: files }));
    const { relay: resources = '', frontEnds } = settings;
    for (const changed of [
      {
        ...settings,
        frontEnds: frontEnds.replace('resources: [notes, files]', 'resources: [files]'),
      },
      { ...settings, relay: resources.replace(notes, 'https://elsewhere.example.com/mcp') },
    ]) {
      await relay().reload(changed);
      expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(401);
      const refused = await relay().refresh('app', refresh_token);
      expect(jsonOf(refused)).to.include({ error: 'invalid_target' });
      expect((await relay().refresh('app', other.refresh_token)).status).to.equal(200);
    }
    await relay().reload(settings);
    expect((await check(relay(), 'notes', bearer(access_token))).status).to.equal(204);
  });

  it('comes with a reload that gives its front end another purpose, so that no earlier login gives a token for the new purpose', async () => {
    const plainApp = {
      ...settings,
      frontEnds: settings.frontEnds.replace(/resources: \[notes, files\]/, 'scope: read'),
    };
    const own = tokensOf(await logIn(relay(), ofNotes));
    const started = await relay().logIn(ofNotes);
    await relay().reload(plainApp);
    expect((await relay().refresh('app', own.refresh_token)).status).to.equal(400);
    expect((await relay().redeem(started.start, started.code)).status).to.equal(400);
    const provider = tokensOf(await logIn(relay(), ofApp));
    const open = await relay().logIn(ofApp);
    await relay().reload(settings);
    expect((await relay().refresh('app', provider.refresh_token)).status).to.equal(400);
    expect((await relay().redeem(open.start, open.code)).status).to.equal(400);
  });
});

describe('the endpoint for servers that introspect', () => {
  it('takes the secret in either way, and counts only wrong secrets', async () => {
    const { access_token: token } = tokensOf(await logIn(relay(), ofNotes));
    const basic = (name: string, password: string): [string, string] => [
      'Authorization',
      `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    ];
    for (const password of [secret, encodeURIComponent(secret), secret.replaceAll(' ', '+')]) {
      const answer = await relay().post('introspect', { token }, [basic('notes', password)]);
      expect(jsonOf(answer)).to.include({ active: true });
    }
    for (const [name, password] of [
      ['notes', `${secret}!`],
      ['notes', secrets['files'] ?? ''],
      ['nothing', secret],
      ['', ''],
    ] as const) {
      const answer = await relay().post('introspect', { token }, [basic(name, password)]);
      expect(answer.status).to.equal(401);
      expect(jsonOf(answer)).to.include({ error: 'invalid_client' });
    }
    const both = { token, client_id: 'notes', client_secret: secret };
    expect((await relay().post('introspect', both, [basic('notes', secret)])).status).to.equal(401);
    for (let count = 0; count < 40; count += 1) {
      expect(await introspect(relay(), 'notes', `junk-${count}`)).to.deep.equal({ active: false });
    }
    expect(JSON.stringify(relay().lines)).not.to.include(secret);
  });
});

describe('the answer to a request that may not pass', () => {
  const place = 'resource_metadata="https://notes.example.com/.well-known/oauth-protected-resource/mcp"';

  it('leads clients to the place where they log in', async () => {
    const { status, headers } = await check(relay(), 'notes');
    expect(status).to.equal(401);
    expect(headers['www-authenticate']).to.equal(`Bearer ${place}, scope="notes:read"`);
    const path = '/.well-known/oauth-protected-resource/mcp';
    const metadata = await relay().send({ path, headers: [['Origin', 'https://any.example']] });
    expect(metadata.headers['access-control-allow-origin']).to.equal('*');
    expect(jsonOf(metadata)).to.deep.equal({
      resource: notes,
      authorization_servers: [`${relay().address}/auth/provider`],
      bearer_methods_supported: ['header'],
      scopes_supported: ['notes:read'],
      resource_name: 'notes',
    });
    for (const slash of ['', '/']) {
      const at = await relay().send({ path: `/.well-known/oauth-protected-resource${slash}` });
      expect(jsonOf(at)).to.include({ resource: files });
    }
  });

  it('is given to every method, and to every request that does not have exactly one token', async () => {
    const { access_token } = tokensOf(await logIn(relay(), ofNotes));
    for (const method of ['OPTIONS', 'POST', 'PROPFIND']) {
      for (const headers of [[], [['Origin', 'https://app.example']]] as [string, string][][]) {
        const asking: [string, string] = ['Access-Control-Request-Method', 'GET'];
        const path = '/auth/check/notes';
        const answer = await relay().send({ method, path, headers: [...headers, asking] });
        expect(answer.status, method).to.equal(401);
      }
    }
    const two: [string, string] = ['Authorization', `Bearer ${access_token} other`];
    expect((await check(relay(), 'notes', two)).status).to.equal(401);
  });

  it('says what is wrong with the token', async () => {
    const wrong = await check(relay(), 'notes', bearer('junk'));
    expect(wrong.headers['www-authenticate']).to.equal(`Bearer ${place}, error="invalid_token", scope="notes:read"`);
    for (const headers of [[bearer('one'), bearer('two')], [['X-Forwarded-Uri', '/mcp?a=1&access_token=x']]] as [
      string,
      string,
    ][][]) {
      expect((await check(relay(), 'notes', ...headers)).status).to.equal(400);
    }
    expect((await check(relay(), 'nothing')).status).to.equal(404);
  });

  it('comes without a call to the provider, like the answer to a request that may pass', async () => {
    const { access_token } = tokensOf(await logIn(relay(), ofNotes));
    relay().provider.calls.length = 0;
    await check(relay(), 'notes', bearer(access_token));
    await introspect(relay(), 'notes', access_token);
    expect(relay().provider.calls).to.deep.equal([]);
  });
});
