import { expect } from 'chai';
import { LoginTraffic } from '../../harness/client/login-traffic.ts';
import { loadSteadily } from '../../harness/client/steady-load.ts';
import { canariesIn, expectNoneRemembered } from '../../harness/expect/canaries.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import { type RelayUnderTest, registration, startRelayFor } from '../../harness/relay/relay-under-test.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { commandLineOf } from '../../harness/system/processes.ts';
import { Balancer, startAtFreePort } from './support/balancer.ts';
import { drain, haproxy, undrain } from './support/kinds.ts';

// The number of restarts of each replica. `scripts/long rolling` sets a larger number.
const restarts = Number(process.env['RESTARTS'] ?? 1);
const requestsPerSecond = 60;

const { describe } = needsPrograms(haproxy.program);

describe('three replicas behind HAProxy', () => {
  let provider: StrictProvider;
  let replicas: { readonly name: string; relay: RelayUnderTest }[];
  let balancer: Balancer;
  const target = () => ({ port: balancer.port, provider });

  before('start the replicas and the balancer', async () => {
    provider = await StrictProvider.start(registration());
    const relays = await Promise.all([1, 2, 3].map(() => startAtFreePort(provider)));
    replicas = relays.map((relay, index) => ({ name: `relay${index + 1}`, relay }));
    balancer = await Balancer.start(
      haproxy,
      relays.map(({ port }) => port),
    );
    for (const { name } of replicas) await undrain(balancer, name);
  });
  afterEach(() => expect(provider.violations).to.deep.equal([]));
  after('stop them', async () => {
    await balancer.stop();
    for (const { relay } of replicas) await relay.process.stop('SIGKILL');
    await provider.stop();
  });

  it('lose no request and no login during many restarts in turn', async function () {
    this.timeout(300_000 + restarts * 30_000);
    const traffic = new LoginTraffic(target);
    const load = loadSteadily(requestsPerSecond, traffic.request);
    for (let restart = 0; restart < restarts; restart += 1) {
      for (const replica of replicas) {
        await load.progress(requestsPerSecond / 10);
        await drain(balancer, replica.name);
        const { process: relay, port } = replica.relay;
        expect([...canariesIn(commandLineOf(relay.pid))]).to.deep.equal([]);
        const { code, stdout, stderr } = await relay.stop();
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        expectNoneRemembered(stdout);
        replica.relay = await startRelayFor(provider, { port: `${port}` });
        await undrain(balancer, replica.name);
      }
    }
    const { lost, answered, rate, slowest } = await load.stop();
    await traffic.end();
    expect(lost).to.deep.equal([]);
    expect(traffic.finished).to.equal(traffic.started);
    if (restarts > 1) {
      const figures = `${answered} requests at ${rate.toFixed()}/s, slowest ${slowest.toFixed()} ms`;
      process.stdout.write(
        `    ${restarts} restarts of each: ${figures}, ${traffic.finished} logins, ${lost.length} lost\n`,
      );
    }
  });
});
