// A relay among hostile clients, and at a hostile provider. `scripts/long fuzz` makes long runs, each with another
// seed, and prints what happened. With SEED and FIRST, a run repeats what a failure names.
import { expect } from 'chai';
import { startAcceptingProvider } from '../../../fuzz/hostile/accepting-provider.ts';
import { attack } from '../../../fuzz/hostile/attack.ts';
import { type AttackedRelay, startAttackedRelay } from '../../../fuzz/hostile/attacked-relay.ts';
import {
  anyCost,
  browserDoorCosts,
  costlyMachines,
  costsOf,
  doorCosts,
  framingCosts,
  knownCosts,
  machineCosts,
} from '../../../fuzz/hostile/costs.ts';
import { stateKey } from '../../../fuzz/hostile/front-ends.ts';
import { takeHostileAnswers } from '../../../fuzz/hostile/hostile-answers.ts';
import { startHostileProvider } from '../../../fuzz/hostile/hostile-provider.ts';
import { randomFor } from '../../../fuzz/hostile/random.ts';
import { limits } from '../../../src/limits.ts';
import { servedDuring } from '../../harness/client/honest-client.ts';
import { secretFile } from '../../harness/relay/relay-under-test.ts';
import { memoryOf } from '../../harness/system/processes.ts';

const { REQUESTS, ANSWERS, COSTS, SEED, FIRST } = process.env;
const isLong = (REQUESTS ?? ANSWERS ?? COSTS) !== undefined;
const requests = Number(REQUESTS ?? 3000);
const answers = Number(ANSWERS ?? 500);
const costs = Number(COSTS ?? 10);
const seed = Number(SEED || (isLong ? Date.now() % 1_000_000 : 1));
const first = Number(FIRST || 0);
// In MiB. A relay remembers proofs and redeemed codes for a minute or two.
const mostMemory = 512;

describe('a relay under attack', function () {
  this.timeout(300_000 + requests + answers * 10 + costs * 1000);
  let attacked: AttackedRelay | undefined;
  afterEach(async () => {
    await attacked?.close();
    const faults = attacked?.relay.faults;
    attacked = undefined;
    expect(faults, `seed ${seed}`).to.deep.equal([]);
  });

  it('answers hostile requests as it should, and everyone else meanwhile', async () => {
    const provider = await startAcceptingProvider();
    attacked = await startAttackedRelay(provider);
    const { relay, targets, credentials } = attacked;
    const connections = isLong ? 4 : 8;
    const plan = { port: relay.port, targets, credentials, seed, requests, connections, first };
    const attacking = attack(plan);
    const served = await servedDuring(relay, attacking);
    const report = await attacking;
    const memory = process.platform === 'linux' ? Math.round(memoryOf(relay.pid, 'VmHWM')) : 0;
    print(
      `seed ${seed}: ${report.sent} hostile requests on ${report.connections} connections`,
      `${report.answered} answers ${counts(report.statuses)}`,
      `outcomes in the log ${counts(relay.outcomes)}`,
      `calls to the provider ${counts(provider.calls)}`,
      `at most ${memory} MiB of memory`,
      served,
    );
    const faults = [...report.faults, ...provider.faults].slice(0, 20);
    expect(faults, `seed ${seed}`).to.deep.equal([]);
    expect(memory).to.be.at.most(mostMemory);
    // A few requests, which repeat a failure, need not be of every kind.
    if (requests < 1000) return;
    const kinds = ['callback', 'redemption', 'refresh', 'revocation', 'user', 'api'];
    expect(provider.calls).to.have.all.keys(kinds);
    expect(report.answered).to.be.greaterThan(report.sent / 2);
  });

  it('takes little more time for expensive requests than for a start of a login', async function () {
    if (process.platform !== 'linux') this.skip();
    const flags = {
      'log-client-address': 'whole',
      'trusted-proxies': '127.0.0.1,10.0.0.0/8',
      'rate-limit': '1000000',
      'refused-exchanges': '0',
      'key-file': await secretFile(`${stateKey}\n${'previous'.repeat(5)}`),
    };
    const pages = { 'error-delivery': 'page' };
    const machines = await costlyMachines();
    attacked = await startAttackedRelay(await startAcceptingProvider(), flags, pages, limits.resources, machines);
    const others = Array.from({ length: costs }, (_, part) => anyCost(randomFor(seed, part)));
    // A short run has every fortieth.
    const some = [...doorCosts(), ...framingCosts(), ...machineCosts(), ...browserDoorCosts()].filter(
      (_, index) => isLong || index % 40 === 0,
    );
    const measured = await costsOf(attacked.relay, [...knownCosts(), ...some, ...others]);
    const lines = measured.map(({ name, starts }) => `${starts.toFixed(1)} starts: ${name}`);
    print(`seed ${seed}: ${measured.length} requests`, ...lines.slice(0, 20));
    // Ten are wanted. Other programs disturb, and faults cost hundreds.
    expect(measured[0]?.starts, lines[0]).to.be.below(40);
  });

  it('makes of hostile answers what it should, and serves everyone else meanwhile', async () => {
    const provider = await startHostileProvider(seed);
    attacked = await startAttackedRelay(provider, { 'provider-timeout': isLong ? '5' : '3' });
    const { targets, relay } = attacked;
    const taking = takeHostileAnswers({
      port: relay.port,
      targets,
      provider,
      answers,
      calls: 16,
      first,
    });
    const served = await servedDuring(relay, taking);
    const report = await taking;
    print(`seed ${seed}: ${provider.answers} hostile answers ${counts(report.ends)}`, served);
    expect(report.faults.slice(0, 20), `seed ${seed}`).to.deep.equal([]);
    expect(provider.answers).to.be.at.least(answers);
  });
});

function print(...lines: readonly string[]): void {
  if (isLong) process.stdout.write(lines.map((line) => `    ${line}\n`).join(''));
}

function counts(map: ReadonlyMap<unknown, number>): string {
  const sorted = [...map].sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${name}: ${count}`).join(', ');
}
