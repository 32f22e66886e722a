import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { makeProof, newProofKey, type ProofKey } from '../harness/client/proof.ts';
import { json, reset } from '../harness/provider/provider-behaviours.ts';
import { eventually } from '../harness/system/eventually.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { ada, bearer, check, notes, ofApp, resourcesRelay, settings, tokensOf } from './support/resources-relay.ts';

const ofNotes = { ...ofApp, resource: notes };

describe('a code whose person the provider does not name at its redemption', () => {
  const given = { ...settings, replicas: 2, provider: 'allow: { users: ["42"] }' };
  const relay = resourcesRelay(given);
  let memory: MemoryServerHere;
  before(async () => {
    memory = await MemoryServerHere.start();
    memory.now = () => Date.now() + relay().ahead;
    await relay().restart({ ...given, relay: `shared-memory: ${memory.address}\n${settings.relay}` });
  });
  after(async () => await memory.stop());
  afterEach(() => {
    relay().at = undefined;
  });
  const isAway = () => relay().provider.knows(json({ message: 'away' }, 503));
  const isBack = () => relay().provider.knows(json(ada));
  const calls = (endpoint: string) => relay().provider.calls.filter((call) => call.endpoint === endpoint).length;
  const proofBy = async (key: ProofKey): Promise<[string, string][]> => [
    [
      'DPoP',
      await makeProof(key, `${relay().address}/auth/provider/token`, Math.floor((Date.now() + relay().ahead) / 1000)),
    ],
  ];

  /** Logs in, and redeems the code while the provider does not say who the person is. */
  async function interrupted(headers?: [string, string][]) {
    const { start, code } = await relay().logIn(ofNotes);
    isAway();
    const answer = await relay().redeem(start, code, {}, headers);
    expect(answer.status).to.equal(503);
    expect(answer.headers).to.have.property('retry-after');
    expect(jsonOf(answer)['error_description']).to.include('try again');
    isBack();
    return { start, code };
  }

  it('works again, at every relay, once', async () => {
    for (const at of [0, 1]) {
      relay().at = 0;
      const { start, code } = await interrupted();
      relay().at = at;
      const tokens = tokensOf(await relay().redeem(start, code));
      expect((await check(relay(), 'notes', bearer(tokens.access_token))).status).to.equal(204);
      expect((await relay().refresh('app', tokens.refresh_token)).status).to.equal(200);
      for (const again of [0, 1]) {
        relay().at = again;
        expect(jsonOf(await relay().redeem(start, code))['error']).to.equal('invalid_grant');
      }
    }
    expect(calls('revocation')).to.equal(0);
  });

  it('works again after a reload', async () => {
    const { start, code } = await interrupted();
    await relay().reload({ ...given, relay: `shared-memory: ${memory.address}\n${settings.relay}` });
    expect(tokensOf(await relay().redeem(start, code))).to.have.property('access_token');
  });

  it('is of no use to another verifier, client or key', async () => {
    const key = await newProofKey();
    const { start, code } = await interrupted(await proofBy(key));
    const exchanges = calls('token');
    for (const [changes, headers] of [
      [{ code_verifier: 'x'.repeat(43) }, await proofBy(key)],
      [{ client_id: 'spare', redirect_uri: 'https://spare.example/' }, await proofBy(key)],
      [{}, await proofBy(await newProofKey())],
      [{}, []],
    ] as const) {
      const answer = await relay().redeem(start, code, changes, [...headers]);
      expect(jsonOf(answer)['error'], JSON.stringify(changes)).to.equal('invalid_grant');
    }
    expect(tokensOf(await relay().redeem(start, code, {}, await proofBy(key)))).to.have.property('access_token');
    expect(calls('token')).to.equal(exchanges);
  });

  it('gives its tokens to one of many clients that redeem it at the same time', async () => {
    const { start, code } = await interrupted();
    const answers = await Promise.all(Array.from({ length: 6 }, () => relay().redeem(start, code)));
    expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(1);
    expect(calls('revocation')).to.equal(0);
  });

  it('gives nothing, and revokes its tokens, if the person may not log in', async () => {
    const { start, code } = await interrupted();
    relay().provider.knows(json({ ...ada, sub: '43', preferred_username: 'mallory' }));
    expect(jsonOf(await relay().redeem(start, code))['error']).to.equal('access_denied');
    await eventually(async () => expect(calls('revocation')).to.be.above(0));
    isBack();
    expect(jsonOf(await relay().redeem(start, code))['error']).to.equal('invalid_grant');
  });

  it('works again if its client disconnects before it has the answer', async () => {
    const { start, code } = await relay().logIn(ofNotes);
    relay().intercept = (_, response) => {
      response.end = () => response.destroy();
      return false;
    };
    expect(
      await relay()
        .redeem(start, code)
        .catch(() => 'gone'),
    ).to.equal('gone');
    relay().intercept = () => false;
    await eventually(async () => {
      expect(tokensOf(await relay().redeem(start, code))).to.have.property('access_token');
    });
    expect(calls('revocation')).to.equal(0);
  });

  it('says that it is expired, once it is', async () => {
    const { start, code } = await interrupted();
    relay().ahead += 61_000;
    expect(jsonOf(await relay().redeem(start, code))).to.deep.include({ error: 'invalid_grant' });
    expect(jsonOf(await relay().redeem(start, code))['error_description']).to.include('expired');
  });

  it('leaves no token behind in clear text', async () => {
    await interrupted();
    const texts = [...memory.values.values()].map(({ text }) => text).join();
    for (const { credential } of relay().provider.calls) if (credential) expect(texts).not.to.include(credential);
  });

  it('is spent if the connection to the provider breaks during the exchange', async () => {
    const { start, code } = await relay().logIn(ofNotes);
    const answer = relay().provider.onToken;
    relay().provider.onToken = reset;
    expect((await relay().redeem(start, code)).status).to.equal(503);
    relay().provider.onToken = answer;
    expect(jsonOf(await relay().redeem(start, code))['error']).to.equal('invalid_grant');
  });
});
