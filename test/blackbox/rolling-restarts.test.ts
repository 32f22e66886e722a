import { expect } from 'chai';
import { expectNoneRemembered } from '../protection/support/fake-browser.ts';
import { canariesIn } from '../support/canaries.ts';
import { childrenOf, commandLineOf, environmentOf } from '../support/child-processes.ts';
import { LoginTraffic } from '../support/login-traffic.ts';
import { loadSteadily } from '../support/steady-load.ts';
import { metricsOf, reload, withWorkers } from '../support/workers.ts';

// `make test-rolling` asks for more.
const restarts = Number(process.env['RESTARTS'] ?? 3);
const requestsPerSecond = 60;

describe('two workers that are replaced again and again', () => {
  it('lose no request and no login, count every one, and show no secret', async function () {
    this.timeout(20_000 + restarts * 10_000);
    await withWorkers(
      async (underTest) => {
        const { process: relay } = underTest;
        const traffic = new LoginTraffic(() => underTest);
        const load = loadSteadily(requestsPerSecond, traffic.request);
        const workers = new Set(childrenOf(relay.pid));
        for (let restart = 0; restart < restarts; restart += 1) {
          await load.progress(requestsPerSecond / 4);
          await reload(relay);
          for (const pid of childrenOf(relay.pid)) workers.add(pid);
          const visible = [...workers]
            .slice(-2)
            .map((pid) => commandLineOf(pid) + environmentOf(pid));
          expect([...canariesIn(visible.join())]).to.deep.equal([]);
        }
        const { lost, answered, rate, slowest } = await load.stop();
        await traffic.end();
        expect(lost).to.deep.equal([]);
        expect(traffic.finished).to.equal(traffic.started);
        expect(workers.size).to.equal(2 * (restarts + 1));

        const metrics = await metricsOf(underTest);
        expect(metrics).to.contain(`\nlogin_relay_logins_started_total ${traffic.started}\n`);
        expect(metrics).to.contain(`\nlogin_relay_logins_finished_total ${traffic.finished}\n`);
        expect(metrics).to.contain('\nlogin_relay_workers_replaced_total 0\n');
        const { code, stderr } = await relay.stop();
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        expectNoneRemembered(metrics + relay.stdout);
        if (restarts > 3) {
          const figures = `${answered} requests at ${rate.toFixed()}/s, slowest ${slowest.toFixed()} ms`;
          process.stdout.write(
            `    ${restarts} restarts: ${figures}, ${traffic.finished} logins, ${lost.length} lost\n`,
          );
        }
      },
      { flags: { 'metrics-port': '0' } },
    );
  });
});
