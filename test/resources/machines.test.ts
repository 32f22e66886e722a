import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { baseUrl } from '../harness/relay/relay.ts';
import {
  ask,
  asserted,
  assertionOf,
  basic,
  botSecret,
  ciSecret,
  files,
  keys,
  machines,
  machinesRelay,
  notes,
  ofBot,
  ofCi,
  oldSecret,
  pemOf,
  settings,
  tokenOf,
} from './support/machines-relay.ts';
import { ada, bearer, check, introspect, logIn, ofApp, tokensOf } from './support/resources-relay.ts';

const relay = machinesRelay();
const statusAt = async (resource: string, token: string) => (await check(relay(), resource, bearer(token))).status;

describe('a machine', () => {
  it('gets a token for its resource by its secret, without a login and without a call to a provider', async () => {
    const answer = await ask(relay(), ofCi);
    expect(answer.status).to.equal(200);
    expect(answer.headers['cache-control']).to.equal('no-store');
    const { access_token, ...granted } = jsonOf(answer);
    expect(granted).to.deep.equal({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'notes:read',
      identity: { sub: 'machine:ci', preferred_username: 'ci' },
    });
    const { status, headers } = await check(relay(), 'notes', bearer(`${access_token}`));
    expect(status).to.equal(204);
    expect(headers).to.include({
      'x-forwarded-user': 'machine:ci',
      'x-forwarded-preferred-username': 'ci',
      'x-forwarded-email': '',
      'x-forwarded-groups': '',
    });
    const told = await introspect(relay(), 'notes', `${access_token}`);
    expect(told).to.include({ active: true, sub: 'machine:ci', client_id: 'ci', aud: notes, scope: 'notes:read' });
    expect(told).not.to.have.any.keys('username', 'email', 'groups');
    expect(relay().provider.calls).to.deep.equal([]);
  });

  for (const [what, form, ...headers] of [
    ['client_secret_basic', {}, basic('ci', ciSecret)],
    ['client_secret_basic, form-encoded', {}, basic('ci', new URLSearchParams({ '': ciSecret }).toString().slice(1))],
    ['client_secret_basic, with its client_id', { client_id: 'ci' }, basic('ci', ciSecret)],
    ['client_secret_post', ofCi],
    ['its previous secret', { client_id: 'ci', client_secret: oldSecret }],
  ] as const) {
    it(`proves who it is by ${what}`, async () => {
      expect(jsonOf(await ask(relay(), form, ...headers))).to.include({ token_type: 'Bearer' });
    });
  }

  for (const name of ['robot', 'crane', 'truck'] as const) {
    it(`proves who it is by a signature of its key: ${keys[name].publicKey.asymmetricKeyType}`, async () => {
      const end = `${relay().address}/auth/provider`;
      for (const aud of [end, `${end}/token`, [end], [end, `${end}/token`]]) {
        const assertion = await assertionOf(relay(), name, { aud });
        const { access_token } = jsonOf(await ask(relay(), asserted(assertion)));
        expect((await introspect(relay(), 'notes', `${access_token}`))['sub']).to.equal(`machine:${name}`);
      }
      const withId = { ...asserted(await assertionOf(relay(), name)), client_id: name };
      expect((await ask(relay(), withId)).status).to.equal(200);
    });
  }

  it('names one of several resources, and gets a token for this resource only', async () => {
    expect(jsonOf(await ask(relay(), ofBot))['error']).to.equal('invalid_target');
    const ofFiles = await tokenOf(relay(), { ...ofBot, resource: files });
    expect(await statusAt('files', ofFiles)).to.equal(204);
    expect(await statusAt('notes', ofFiles)).to.equal(401);
    expect(await statusAt('files', await tokenOf(relay()))).to.equal(401);
    expect(jsonOf(await ask(relay(), { ...ofCi, resource: files }))['error']).to.equal('invalid_target');
  });

  it('ends its own token, and no other token', async () => {
    const own = await tokenOf(relay());
    const other = await tokenOf(relay(), { ...ofBot, resource: notes });
    const person = tokensOf(await logIn(relay(), { ...ofApp, resource: notes })).access_token;
    for (const token of [own, other, person, 'junk']) {
      const { status } = await relay().post('revoke', { ...ofCi, token });
      expect(status).to.equal(200);
    }
    expect(await statusAt('notes', own)).to.equal(401);
    expect(await statusAt('notes', other)).to.equal(204);
    expect(await statusAt('notes', person)).to.equal(204);
    expect((await relay().post('revoke', { client_id: 'ci', token: own })).status).to.equal(401);
  });

  it('starts no login, whatever is asked for', async () => {
    for (const query of ['', '&response_type=code&code_challenge_method=S256&code_challenge='.padEnd(100, 'a')]) {
      for (const path of ['/auth/provider?client_id=ci', '/auth/provider/ci?']) {
        const { status, body, headers } = await relay().browser().open(`${path}${query}`);
        expect(status, path + query).to.equal(400);
        expect(headers.location).to.equal(undefined);
        expect(`${body}`).to.contain('machine');
      }
    }
  });

  it('gets no other grant, and no other front end gets the grant of a machine', async () => {
    for (const grant_type of ['authorization_code', 'refresh_token', 'password']) {
      const answer = await relay().post('token', { ...ofCi, grant_type, code: 'x', refresh_token: 'x' });
      expect(jsonOf(answer)['error']).to.equal('unauthorized_client');
    }
    for (const client_id of ['app', 'tools', 'spare']) {
      const answer = await ask(relay(), { client_id, client_secret: ciSecret });
      expect(answer.status).to.equal(400);
      expect(jsonOf(answer)['error']).to.equal('unauthorized_client');
    }
  });

  it('does not need to match allow, which is only for people', async () => {
    const { relay: lines = '', ...others } = settings();
    await relay().reload({
      ...others,
      relay: lines.replace(/( {2}notes: \{)/, '$1 allow: { users: ["7"] },'),
    });
    expect(await statusAt('notes', await tokenOf(relay()))).to.equal(204);
  });

  it('is described in the metadata, for clients that discover how to prove who they are', async () => {
    const metadata = async () =>
      jsonOf(await relay().send({ path: '/.well-known/oauth-authorization-server/auth/provider' }));
    const methods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];
    const algs = ['ES256', 'EdDSA', 'Ed25519', 'RS256'];
    expect(await metadata()).to.deep.include({
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_methods_supported: methods,
      token_endpoint_auth_signing_alg_values_supported: algs,
      revocation_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_signing_alg_values_supported: algs,
    });
    await relay().reload(settings({ changes: { robot: '', crane: '', truck: '' } }));
    expect(await metadata()).to.deep.include({ token_endpoint_auth_methods_supported: methods.slice(0, 3) });
    await relay().reload(settings({ changes: Object.fromEntries(Object.keys(machines).map((name) => [name, ''])) }));
    expect(await metadata()).to.deep.include({ token_endpoint_auth_methods_supported: ['none'] });
    expect(await metadata()).not.to.have.property('token_endpoint_auth_signing_alg_values_supported');
    expect(jsonOf(await ask(relay(), { client_id: 'app' }))['error']).to.equal('unsupported_grant_type');
  });

  it('may be the only front end of a relay', async () => {
    await relay().reload({ ...settings(), frontEnds: machines.ci, relay: `resources: { notes: { url: ${notes} } }` });
    expect(await statusAt('notes', await tokenOf(relay()))).to.equal(204);
    const metadata = await relay().send({ path: '/.well-known/oauth-authorization-server/auth/provider' });
    expect(jsonOf(metadata)).to.deep.include({
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
  });
});

describe('the token of a machine ends at a reload', () => {
  const ci = (changes: Parameters<typeof settings>[0]) => settings(changes);

  for (const [what, changed] of [
    ['that removes its secret', ci({ texts: { './ci': 'another secret of thirty-two characters' } })],
    ['that removes the entry', ci({ changes: { ci: '' } })],
    ['that takes the resource away', ci({ changes: { ci: machines.ci.replace('notes', 'files') } })],
    [
      'that makes a front end of people of the entry',
      ci({ changes: { ci: '  ci: { origin: https://ci.example, token-delivery: code, resources: [notes] }\n' } }),
    ],
    ['that gives it a key in place of the secret', ci({ changes: { ci: machines.robot.replace('robot:', 'ci:') } })],
  ] as const) {
    it(what, async () => {
      const token = await tokenOf(relay());
      await relay().reload(changed);
      expect(await statusAt('notes', token)).to.equal(401);
      await relay().reload(settings());
      expect(await statusAt('notes', token)).to.equal(204);
    });
  }

  it('that replaces its key, but not at a reload that adds the next key', async () => {
    const token = await tokenOf(relay(), asserted(await assertionOf(relay())));
    const next = pemOf(keys.crane.publicKey);
    await relay().reload(settings({ texts: { './robot': next + pemOf(keys.robot.publicKey) } }));
    expect(await statusAt('notes', token)).to.equal(204);
    await relay().reload(settings({ texts: { './robot': next } }));
    expect(await statusAt('notes', token)).to.equal(401);
  });

  it('only if the machine got it with the removed secret', async () => {
    const present = await tokenOf(relay());
    const previous = await tokenOf(relay(), { ...ofCi, client_secret: oldSecret });
    await relay().reload(settings({ texts: { './ci': ciSecret } }));
    expect(await statusAt('notes', present)).to.equal(204);
    expect(await statusAt('notes', previous)).to.equal(401);
    expect((await ask(relay(), { ...ofCi, client_secret: oldSecret })).status).to.equal(401);
  });

  it('and no login of people at the entry opens after that', async () => {
    const page = '  ci: { origin: https://ci.example, token-delivery: code, resources: [notes] }\n';
    await relay().reload(settings({ changes: { ci: page } }));
    const login = { client_id: 'ci', redirect_uri: 'https://ci.example/', resource: notes };
    const { access_token } = tokensOf(await logIn(relay(), login));
    const { start, code } = await relay().logIn(login);
    expect(await statusAt('notes', access_token)).to.equal(204);
    await relay().reload(settings());
    expect(await statusAt('notes', access_token)).to.equal(401);
    expect((await relay().redeem(start, code)).status).to.equal(401);
    const answer = await relay().redeem(start, code, { client_secret: ciSecret });
    expect(jsonOf(answer)['error']).to.equal('unauthorized_client');
  });
});

describe('nobody poses as a machine', () => {
  const wrong = async (answer: ReturnType<typeof ask>) => {
    const { status, headers, body } = await answer;
    expect(status, `${body}`).to.equal(401);
    expect(headers['www-authenticate']).to.match(/^Basic /);
    expect(JSON.parse(`${body}`).error).to.equal('invalid_client');
    expect(JSON.parse(`${body}`)).not.to.have.property('access_token');
  };

  for (const [what, form, ...headers] of [
    ['without a secret', { client_id: 'ci' }],
    ['without a name', { client_secret: ciSecret }],
    ['with an empty secret', {}, basic('ci', '')],
    ['with the secret of another machine', { client_id: 'ci', client_secret: botSecret }],
    ['with a part of the secret', { client_id: 'ci', client_secret: ciSecret.slice(0, -1) }],
    ['with a longer secret', { client_id: 'ci', client_secret: `${ciSecret} ` }],
    ['with both secrets in one', { client_id: 'ci', client_secret: `${ciSecret}\n${oldSecret}` }],
    ['with the name of an unknown machine', { client_id: 'nobody', client_secret: ciSecret }],
    ['with the secret in both ways', ofCi, basic('ci', ciSecret)],
    ['with two names', { client_id: 'bot' }, basic('ci', ciSecret)],
    ['with the secret twice in headers', {}, basic('ci', ciSecret), basic('ci', ciSecret)],
    ['as a token', { client_id: 'ci' }, ['Authorization', `Bearer ${ciSecret}`]],
    ['of a key by a secret', { client_id: 'robot', client_secret: ciSecret }],
    ['of a key by its public key', { client_id: 'robot', client_secret: pemOf(keys.robot.publicKey) }],
    ['by the name of an object', { client_id: '__proto__', client_secret: ciSecret }],
  ] as const) {
    it(what, async () => {
      await wrong(ask(relay(), form, ...(headers as [string, string][])));
    });
  }

  it('by parameters that come twice', async () => {
    for (const name of ['client_id', 'client_secret', 'resource', 'grant_type', 'client_assertion']) {
      const twice = `{"grant_type":"client_credentials","client_id":"ci","client_secret":"${ciSecret}","${name}":["a","b"]}`;
      expect((await relay().post('token', twice)).status).to.equal(400);
    }
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...ofCi });
    const { status } = await relay().send({
      method: 'POST',
      path: '/auth/provider/token',
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      body: `${form}&client_secret=${encodeURIComponent(ciSecret)}`,
    });
    expect(status).to.equal(400);
  });

  it('from a page, even if pages of all origins may call, because its visitors would guess secrets for it', async () => {
    for (const origin of ['https://app.example', 'https://evil.example', 'null']) {
      const answer = await ask(relay(), ofCi, ['Origin', origin]);
      expect(answer.status).to.equal(403);
      expect(answer.headers).not.to.have.property('access-control-allow-origin');
    }
  });

  const seconds = () => Math.floor((Date.now() + relay().ahead) / 1000);
  const now = Math.floor(Date.now() / 1000);
  for (const [what, changes] of [
    ['that has expired', { iat: now - 600, exp: now - 61 }],
    ['that is good for longer than five minutes', { exp: now + 3600 }],
    ['without an end', { exp: undefined }],
    ['from the future', { iat: now + 600 }],
    ['that is not good yet', { nbf: now + 600 }],
    ['without a jti', { jti: undefined }],
    ['with an empty jti', { jti: '' }],
    ['with a jti that is no text', { jti: 7 }],
    ['with a long jti', { jti: 'j'.repeat(257) }],
    ['for nobody', { aud: undefined }],
    ['for an empty list', { aud: [] }],
    ['for another registration', { aud: `${baseUrl}/auth/other` }],
    ['for the relay as a whole', { aud: baseUrl }],
    ['for this issuer and another', { aud: [`${baseUrl}/auth/provider`, 'https://evil.example'] }],
    ['for the revocation endpoint', { aud: `${baseUrl}/auth/provider/revoke` }],
    ['of another issuer', { iss: 'crane' }],
    ['of another subject', { sub: 'crane' }],
    ['about a person', { sub: '42' }],
  ] as const) {
    it(`by an assertion ${what}`, async () => {
      await wrong(ask(relay(), { ...asserted(await assertionOf(relay(), 'robot', changes)), client_id: 'robot' }));
    });
  }

  it('by an assertion that was used, before and after the relay forgets it', async () => {
    const assertion = await assertionOf(relay(), 'robot', { iat: seconds(), exp: seconds() + 300 });
    expect((await ask(relay(), asserted(assertion))).status).to.equal(200);
    for (const ahead of [0, 299_000, 355_000, 365_000, 3_600_000]) {
      relay().ahead = ahead;
      await wrong(ask(relay(), asserted(assertion)));
    }
  });

  it('by an assertion that two requests bring at once', async () => {
    const assertion = await assertionOf(relay());
    const answers = await Promise.all([1, 2, 3].map(() => ask(relay(), asserted(assertion))));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401]);
  });

  it('by an assertion of another key, or of none', async () => {
    const of = async (alg: string, key: object) =>
      await assertionOf(relay(), 'robot', {}, alg, key as (typeof keys)['robot']['privateKey']);
    const [, payload = ''] = (await assertionOf(relay())).split('.');
    const encode = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url');
    const { createSecretKey, createHmac } = await import('node:crypto');
    const forged = [
      await of('EdDSA', keys.crane.privateKey),
      await of('RS256', keys.truck.privateKey),
      await of('PS256', keys.truck.privateKey),
      await of('HS256', createSecretKey(Buffer.from(pemOf(keys.robot.publicKey)))),
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'None' })}.${payload}.`,
      `${encode({ alg: 'ES256' })}.${payload}.`,
      `${encode({ alg: 'ES256', crit: ['b64'], b64: false })}.${payload}.AAAA`,
      `${encode({ alg: 'ES256', jwk: keys.crane.publicKey.export({ format: 'jwk' }) })}.${payload}.AAAA`,
    ];
    const head = `${encode({ alg: 'HS256' })}.${payload}`;
    const pem = pemOf(keys.robot.publicKey);
    forged.push(`${head}.${createHmac('sha256', pem).update(head).digest('base64url')}`);
    for (const assertion of forged) await wrong(ask(relay(), { ...asserted(assertion), client_id: 'robot' }));
  });

  it('by a signed assertion that is invalid, too long, or not the only credential', async () => {
    const good = await assertionOf(relay());
    await wrong(ask(relay(), { client_assertion: good, client_id: 'robot' }));
    await wrong(ask(relay(), { ...asserted(good), client_assertion_type: 'urn:other', client_id: 'robot' }));
    await wrong(ask(relay(), { ...asserted(good), client_secret: ciSecret }));
    await wrong(ask(relay(), asserted(good), basic('robot', ciSecret)));
    await wrong(ask(relay(), { ...asserted(good), client_id: 'crane' }));
    const long = await assertionOf(relay(), 'robot', { x: 'x'.repeat(8000) });
    await wrong(ask(relay(), { ...asserted(long), client_id: 'robot' }));
    for (const junk of ['x', '.', '..', 'a.b.c', '{}', '\u{1F600}']) {
      await wrong(ask(relay(), { ...asserted(junk), client_id: 'robot' }));
    }
    expect((await ask(relay(), asserted(good))).status).to.equal(200);
  });

  it('by guessing, because wrong secrets are counted, and the right secret still works', async () => {
    const { relay: lines, ...others } = settings();
    await relay().restart({ ...others, relay: `trusted-proxies: 127.0.0.1\nrefused-exchanges: 3\n${lines}` });
    const from = (address: string): [string, string] => ['X-Forwarded-For', address];
    const guess = (form: Parameters<typeof ask>[1], address = '192.0.2.1') => ask(relay(), form, from(address));
    const wrongSecret = { client_id: 'ci', client_secret: 'x'.repeat(32) };
    const forms = [wrongSecret, { client_id: 'nobody' }, asserted(await assertionOf(relay(), 'robot', { aud: 'x' }))];
    for (const form of forms) await wrong(guess(form));
    for (const form of forms) {
      const { status, headers } = await guess(form);
      expect(status).to.equal(429);
      expect(headers['retry-after']).to.match(/^\d+$/);
      await wrong(guess(form, '192.0.2.2'));
    }
    expect((await guess(ofCi)).status).to.equal(200);
    expect((await guess(asserted(await assertionOf(relay())))).status).to.equal(200);
  });

  it('as a person whose id begins with machine, because such a person is not known', async () => {
    for (const sub of ['machine:ci', 'MACHINE:ci', 'machine:']) {
      relay().provider.knows(json({ ...ada, sub }));
      const answer = await logIn(relay(), { ...ofApp, resource: notes });
      expect(answer.status).to.equal(400);
      expect(jsonOf(answer)['error']).to.equal('access_denied');
    }
    for (const sub of ['machine', 'a machine:ci', 'machines:ci']) {
      relay().provider.knows(json({ ...ada, sub }));
      expect((await logIn(relay(), { ...ofApp, resource: notes })).status).to.equal(200);
    }
  });
});
