import { expect } from 'chai';
import { type ClientsRelay, jsonOf, loopback } from '../clients/support/clients-relay.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import {
  ask,
  asserted,
  assertionOf,
  ciSecret,
  keys,
  machinesRelay,
  ofCi,
  pemOf,
  settings,
  tokenOf,
} from './support/machines-relay.ts';
import { bearer, check, files, notes } from './support/resources-relay.ts';

const statusAt = async (relay: ClientsRelay, resource: string, token: string) =>
  (await check(relay, resource, bearer(token))).status;

describe('a machine, where several relays remember together', () => {
  const relay = machinesRelay();
  let memory: MemoryServerHere;
  beforeEach(async () => {
    memory = await MemoryServerHere.start();
    memory.now = () => Date.now() + relay().ahead;
    const { relay: lines, ...others } = settings();
    await relay().restart({ ...others, replicas: 3, relay: `shared-memory: ${memory.address}\n${lines}` });
  });
  afterEach(async () => {
    relay().at = undefined;
    await memory.stop();
  });

  it('uses an assertion once, at whichever relay', async () => {
    const assertion = await assertionOf(relay());
    const answers = await Promise.all([0, 1, 2].map(() => ask(relay(), asserted(assertion))));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401]);
  });

  it('ends a token at all of them', async () => {
    const token = await tokenOf(relay());
    relay().at = 0;
    await relay().post('revoke', { ...ofCi, token });
    for (const at of [0, 1, 2]) {
      relay().at = at;
      expect(await statusAt(relay(), 'notes', token)).to.equal(401);
    }
  });
});

describe('a machine, and unregistered clients', () => {
  const relay = machinesRelay();

  it('gets a token that is bound to no key, whatever proof its request has', async () => {
    const answer = await ask(relay(), ofCi, ['DPoP', 'junk']);
    expect(jsonOf(answer)).to.include({ token_type: 'Bearer' });
    expect(answer.headers).not.to.have.property('dpop-nonce');
  });

  it('is not a registered client, which gets nothing with client_credentials', async () => {
    const registered = JSON.stringify({ redirect_uris: [loopback], grant_types: ['client_credentials'] });
    const { client_id, ...described } = jsonOf(await relay().post('register', registered));
    expect(described).not.to.have.property('client_secret');
    const answer = await ask(relay(), { client_id: `${client_id}`, client_secret: ciSecret });
    expect(answer.status).to.equal(400);
    expect(jsonOf(answer)['error']).to.equal('unauthorized_client');
  });
});

describe('a machine, where there are several registrations', () => {
  const relay = machinesRelay();
  const at = async (registration: string, form: Parameters<typeof ask>[1]) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    for (const [name, value] of Object.entries(form)) body.set(name, `${value}`);
    const type: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
    return await relay().send({
      method: 'POST',
      path: `/auth/${registration}/token`,
      headers: [type],
      body: `${body}`,
    });
  };

  beforeEach(async () => {
    const { frontEnds: _, relay: __, ...others } = settings();
    await relay().restart({
      ...others,
      provider:
        'scope: a\n  other: { client-id: b, client-secret: c, authorize-url: "http://127.0.0.1:1/a", token-url: "http://127.0.0.1:1/t", user-url: "http://127.0.0.1:1/u" }',
      relay: `resources:\n  notes: { url: ${notes}, provider: provider }\n  files: { url: ${files}, provider: other }\n`,
      frontEnds: `  app: { origin: https://app.example, token-delivery: code, resources: [notes, files] }
  ci: { kind: machine, secret-file: ./ci, resources: [notes] }
  robot: { kind: machine, public-key-file: ./robot, resources: [notes, files] }
`,
      files: { ...others.files, './robot': pemOf(keys.robot.publicKey) },
    });
  });

  it('is known only at the registrations of its resources', async () => {
    expect((await at('provider', ofCi)).status).to.equal(200);
    expect((await at('other', ofCi)).status).to.equal(401);
    expect(jsonOf(await at('provider', { ...ofCi, resource: files }))['error']).to.equal('invalid_target');
  });

  it('gets a token for the resource of each registration with an assertion for its issuer, and each token opens only this resource', async () => {
    const issuers = { provider: 'notes', other: 'files' } as const;
    for (const [registration, own] of Object.entries(issuers)) {
      for (const named of Object.keys(issuers)) {
        const aud = `${relay().address}/auth/${named}`;
        const answer = await at(registration, asserted(await assertionOf(relay(), 'robot', { aud })));
        expect(answer.status, `${named} at ${registration}`).to.equal(named === registration ? 200 : 401);
        if (answer.status !== 200) continue;
        const { access_token: token } = jsonOf(answer);
        for (const resource of ['notes', 'files']) {
          expect(await statusAt(relay(), resource, `${token}`)).to.equal(resource === own ? 204 : 401);
        }
      }
    }
  });
});
