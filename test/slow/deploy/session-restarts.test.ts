import { expect } from 'chai';
import { manyAtOnce } from '../../harness/client/many-at-once.ts';
import { expectNoneRemembered } from '../../harness/expect/canaries.ts';
import { SessionPage, sessionFlags } from '../../harness/login/session-page.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import type { Serving } from '../../harness/provider/serve.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from './support/balancer.ts';
import { clientAddress } from './support/client-address.ts';
import { drain, haproxy, undrain } from './support/haproxy.ts';
import { Replica } from './support/replica.ts';

const count = Number(process.env['SESSIONS'] ?? 30);
/** Each has its own relay for refreshes. */
const addresses = Array.from({ length: 10 }, (_, index) => `127.0.1.${index + 1}`);
const refreshesAtOnce = 4;

const { describe } = needsPrograms(haproxy.program);

describe(`${count} sessions at three replicas behind HAProxy`, function () {
  this.timeout(30_000 + count * 500);
  let provider: RefreshingProvider;
  let replicas: Replica[];
  let balancer: Balancer;
  let clients: Serving[];
  let visitors: Visitor[];

  before('start the provider, the replicas and the balancer, and log in', async () => {
    provider = await RefreshingProvider.start();
    const flags = { ...provider.flags, ...(await sessionFlags()), 'trusted-proxies': '127.0.0.1' };
    const ports = [await freePort(), await freePort(), await freePort()];
    replicas = ports.map((port, index) => new Replica(`relay${index + 1}`, port, provider, flags));
    await Promise.all(replicas.map((replica) => replica.start()));
    balancer = await Balancer.start(haproxy, ports);
    for (const { name } of replicas) await undrain(balancer, name);
    clients = await Promise.all(addresses.map((address) => clientAddress(balancer, address)));
    visitors = Array.from({ length: count }, (_, index) => {
      const client = clients[index % clients.length];
      if (client === undefined) throw new Error('there is no client address');
      return new Visitor(client, provider);
    });
    await manyAtOnce(count, refreshesAtOnce, async (index) => visitors[index]?.logIn());
  });
  after('stop them; nothing secret is in the log', async () => {
    await Promise.all(clients.map((client) => client.close()));
    await balancer.stop();
    for (const { process } of replicas) expectNoneRemembered((await process.stop()).stdout);
    await provider.stop();
  });

  it('outlast replicas that are restarted or killed, unless the answer to a refresh got lost', async () => {
    await refreshDuring(async () => {
      for (const [index, replica] of replicas.entries()) {
        if (index === 0) await restart(replica);
        else await kill(replica);
        await replica.start();
        await undrain(balancer, replica.name);
      }
    });
    await expectAnsweredAlive();
    const refreshes = visitors.reduce((sum, visitor) => sum + visitor.refreshes, 0);
    if (count > 100) {
      const lost = visitors.filter(({ isAnswered }) => !isAnswered).length;
      process.stdout.write(`    ${count} sessions, ${refreshes} refreshes, ${lost} unanswered\n`);
    }
  });

  async function restart(replica: Replica): Promise<void> {
    await drain(balancer, replica.name);
    const { code, stdout, stderr } = await replica.process.stop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expectNoneRemembered(stdout);
  }

  async function kill(replica: Replica): Promise<void> {
    // Until each client address has its relay.
    await Promise.all(visitors.slice(0, addresses.length).map((visitor) => visitor.refresh()));
    await replica.process.stop('SIGKILL');
  }

  /** Checks that each replica serves the sessions whose refreshes all had an answer. */
  async function expectAnsweredAlive(): Promise<void> {
    const alive = visitors.filter(({ isAnswered }) => isAnswered);
    // At each restart, those that were in flight.
    const mostLost = replicas.length * refreshesAtOnce;
    expect(count - alive.length).to.be.at.most(mostLost);
    provider.mood.expiresIn = 28_800;
    await manyAtOnce(alive.length, refreshesAtOnce, async (index) => {
      await alive[index]?.refresh();
      for (const { port } of replicas) expect(await alive[index]?.lookUpAt(port)).to.equal(200);
    });
  }

  /** Refreshes all sessions again and again during `act`. */
  async function refreshDuring(act: () => Promise<void>): Promise<void> {
    // So short that each refresh is a call: a replica repeats results with longer tokens.
    provider.mood.expiresIn = 60;
    let goesOn = true;
    let next = 0;
    const loads = Array.from({ length: refreshesAtOnce }, async () => {
      while (goesOn) {
        const visitor = visitors[next++ % count];
        await visitor?.refresh();
      }
    });
    try {
      await act();
    } finally {
      goesOn = false;
      await Promise.all(loads);
    }
  }
});

/** A session whose page refreshes it, one request at a time. */
class Visitor {
  /** Whether every refresh so far had an answer of a relay. If not, the provider may have rotated the token. */
  isAnswered = true;
  refreshes = 0;
  #port: number;
  readonly #page: SessionPage;
  #last: Promise<void> = Promise.resolve();

  constructor({ port }: Serving, provider: RefreshingProvider) {
    this.#port = port;
    this.#page = new SessionPage(() => ({ port: this.#port }), provider);
  }

  async logIn(): Promise<void> {
    await this.#page.logIn();
  }

  async refresh(): Promise<void> {
    this.#last = this.#last.then(() => this.#refresh());
    await this.#last;
  }

  /** The status of a lookup at one replica. */
  async lookUpAt(port: number): Promise<number> {
    const balancer = this.#port;
    this.#port = port;
    const { status } = await this.#page.lookUp();
    this.#port = balancer;
    return status;
  }

  async #refresh(): Promise<void> {
    if (!this.isAnswered) return;
    const answer = await this.#page.refresh().catch(() => undefined);
    this.refreshes += 1;
    if (answer === undefined || answer.status === 502) this.isAnswered = false;
    else expect(answer.status, `${answer.body}`).to.equal(200);
  }
}
