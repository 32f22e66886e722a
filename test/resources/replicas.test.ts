import { expect } from 'chai';
import { eventually } from '../harness/system/eventually.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import {
  bearer,
  check,
  introspect,
  logIn,
  notes,
  ofApp,
  resourcesRelay,
  settings,
  type Tokens,
  tokensOf,
} from './support/resources-relay.ts';

const halfMinute = 30_000;

describe('the doors of three relays that share a memory', () => {
  const given = { ...settings, replicas: 3 };
  const relay = resourcesRelay(given);
  let memory: MemoryServerHere;

  before(async () => {
    memory = await MemoryServerHere.start();
    memory.now = () => Date.now() + relay().ahead;
    const shared = `shared-memory: ${memory.address}\n`;
    await relay().restart({ ...given, relay: `${shared}${settings.relay}` });
  });
  after(async () => await memory.stop());
  afterEach(() => {
    relay().at = undefined;
  });

  /** Whether each relay opens the resource, by both of its doors. */
  async function opened({ access_token }: Tokens): Promise<boolean[]> {
    const answers: boolean[] = [];
    for (const at of [0, 1, 2]) {
      relay().at = at;
      const { status } = await check(relay(), 'notes', bearer(access_token));
      const { active } = await introspect(relay(), 'notes', access_token);
      expect(active).to.equal(status === 204);
      answers.push(status === 204);
    }
    return answers;
  }
  const start = async () => tokensOf(await logIn(relay(), { ...ofApp, resource: notes }));
  async function logOut(at: number, token: string): Promise<void> {
    relay().at = at;
    const answer = await relay().post('revoke', { client_id: 'app', token });
    expect(answer.status, `${answer.body}`).to.equal(200);
  }

  for (const kind of ['access_token', 'refresh_token'] as const) {
    it(`close within half a minute for a login that ends at one of the relays by its ${kind}`, async () => {
      const tokens = await start();
      expect(await opened(tokens)).to.deep.equal([true, true, true]);
      await logOut(1, tokens[kind]);
      expect((await opened(tokens))[1]).to.equal(false);
      relay().ahead += halfMinute;
      expect(await opened(tokens)).to.deep.equal([false, false, false]);
      relay().at = 2;
      expect((await relay().refresh('app', tokens.refresh_token)).status).to.equal(400);
    });
  }

  it('answer from their own memory while the shared memory does not answer, and report to it when it answers again', async () => {
    const ended = await start();
    const ending = await start();
    const going = await start();
    await logOut(0, ended.access_token);
    expect(await opened(ended)).to.deep.equal([false, false, false]);
    await memory.stop();
    memory.values.clear();
    relay().ahead += halfMinute;
    expect(await opened(ended), 'known before').to.deep.equal([false, false, false]);
    await logOut(1, ending.refresh_token);
    expect(await opened(ending)).to.deep.equal([true, false, true]);
    expect(await opened(going)).to.deep.equal([true, true, true]);
    relay().at = 2;
    expect((await relay().refresh('app', going.refresh_token)).status).to.equal(200);
    await memory.listen(memory.port);
    await eventually(async () => {
      relay().ahead += halfMinute;
      expect(await opened(ending)).to.deep.equal([false, false, false]);
    }, 250);
    expect(await opened(going)).to.deep.equal([true, true, true]);
  });
});
