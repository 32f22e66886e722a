import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { expectLogin, FakeBrowser } from '../protection/support/fake-browser.ts';
import { canariesIn, canary } from '../support/canaries.ts';
import { childrenOf, commandLineOf, environmentOf } from '../support/child-processes.ts';
import { expectError, expectToken, expectUser } from '../support/expectations.ts';
import { send } from '../support/http-client.ts';
import { runRelay } from '../support/relay-process.ts';
import {
  flagsFor,
  loginPath,
  type RelayUnderTest,
  withSecretFile,
} from '../support/relay-under-test.ts';
import { userRecord } from '../support/strict-provider.ts';
import { metricsOf, reload, withWorkers } from '../support/workers.ts';

/** Asks until two workers have answered; their process ids. */
async function answering({ process: relay, port }: RelayUnderTest): Promise<number[]> {
  const pids = new Set<number>();
  while (pids.size < 2) {
    const { headers } = await send(port, { path: loginPath });
    const line = await relay.logLine(({ requestId }) => requestId === headers['x-request-id']);
    pids.add(Number(line['pid']));
  }
  return [...pids];
}

describe('workers', () => {
  it('share one port, a free one too, and say once where they listen', async () => {
    await withWorkers(async (underTest) => {
      const workers = childrenOf(underTest.process.pid);
      expect(await answering(underTest)).to.have.members(workers);
      const lines = underTest.process.logLines.filter(({ msg }) => msg === 'listening');
      expect(lines).to.have.length(1);
    });
  });

  it('serve on, whichever of them a request of a login reaches', async () => {
    await withWorkers(async (underTest) => {
      const finishers = new Map<string, unknown>();
      while (new Set(finishers.values()).size < 2) {
        const browser = new FakeBrowser(() => underTest);
        const login = await browser.start();
        const answer = await browser.finish(login);
        expectLogin(underTest, answer, login);
        const id = String(answer.headers['x-request-id']);
        const { pid } = await underTest.process.logLine(({ requestId }) => requestId === id);
        finishers.set(id, pid);
      }
      for (const path of ['/healthz', '/readyz']) {
        expect((await underTest.get(path)).status).to.equal(200);
      }
    });
  });

  it('are as many as there are processors, where that is asked for', async () => {
    await withWorkers(
      async (underTest) => {
        const workers = childrenOf(underTest.process.pid).length;
        // With a single processor there is a single process.
        expect(Math.max(workers, 1)).to.equal(availableParallelism());
      },
      { flags: { workers: 'auto' } },
    );
  });

  it('are not there for one: it is a process without any', async () => {
    await withWorkers(
      async (underTest) => {
        expectUser(await underTest.lookUp());
        expect(childrenOf(underTest.process.pid)).to.deep.equal([]);
        expect(underTest.process.stdout).to.not.contain('"pid"');
      },
      { flags: { workers: '1' } },
    );
  });

  describe('start', () => {
    it('not at all with a fault in the configuration, which is reported once', async () => {
      const { code, stdout, stderr } = await runRelay({ flags: { workers: '2', port: '0' } });
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr.match(/--origin/g)).to.have.length(1);
    });

    it('not at all where the port is taken, which is reported once', async () => {
      await withWorkers(async ({ port, provider }) => {
        const { clientSecret } = provider.registration;
        const taken = await withSecretFile(clientSecret, (file) =>
          runRelay({ flags: { ...flagsFor(provider, file), workers: '2', port: `${port}` } }),
        );
        expect({ ...taken, signal: null }).to.deep.equal({
          code: 1,
          signal: null,
          stdout: '',
          stderr: `login-relay: port ${port} on 127.0.0.1 is already in use\n`,
        });
      });
    });

    it('only as many as a number, or auto, says', async () => {
      for (const workers of ['0', '-1', '1.5', '100', 'many', '02']) {
        const { code, stderr } = await runRelay({ flags: { workers } });
        expect(code).to.equal(2);
        expect(stderr).to.contain(
          '--workers (WORKERS) must be a whole number from 1 to 99, or auto',
        );
      }
    });

    it('for their parent alone, not by hand', async () => {
      const { code, stderr } = await runRelay({ words: ['worker'] });
      expect(code).to.equal(2);
      expect(stderr).to.contain('worker is a command of login-relay itself');
    });
  });

  describe('that end', () => {
    it('are replaced at once, and after a pause where that does not last', async () => {
      await withWorkers(async (underTest) => {
        const { process: relay } = underTest;
        const ended = (pid: number) => relay.logLine(({ worker }) => worker === pid);
        const [victim = 0, other] = await answering(underTest);
        process.kill(victim, 'SIGKILL');
        const line = { level: 'error', reason: 'SIGKILL' };
        expect(await ended(victim)).to.include({ ...line, retryIn: 0 });
        const [next = 0] = (await answering(underTest)).filter((pid) => pid !== other);
        expect(next).to.not.equal(victim);
        process.kill(next, 'SIGKILL');
        expect(await ended(next)).to.include({ ...line, retryIn: 1000 });
        await answering(underTest);
        expect(relay.logLines.filter(({ worker }) => worker !== undefined)).to.have.length(2);
      });
    });

    it('are replaced with the configuration of the others, whatever its files hold now', async () => {
      await withWorkers(async (underTest, file) => {
        await writeFile(file, '');
        const [victim = 0] = await answering(underTest);
        process.kill(victim, 'SIGKILL');
        await underTest.process.logLine(({ worker }) => worker === victim);
        await answering(underTest);
        for (let time = 0; time < 4; time += 1) expectToken(await underTest.logIn());
      });
    });

    it('end with their parent, however that ends', async () => {
      await withWorkers(async (underTest) => {
        // Its output closes once the last process that could write to it has ended.
        expect((await underTest.process.stop('SIGKILL')).signal).to.equal('SIGKILL');
      });
    });
  });

  describe('on SIGHUP', () => {
    it('make room for new ones, which read secrets and keys again', async () => {
      await withWorkers(async (underTest, file) => {
        const before = childrenOf(underTest.process.pid);
        await writeFile(file, 'wrong');
        await reload(underTest.process);
        expect(await answering(underTest)).to.not.have.any.members(before);
        expect(expectError(await underTest.logIn(), 400)).to.contain('refused');
        underTest.provider.forget();
        await writeFile(file, underTest.provider.registration.clientSecret);
        await reload(underTest.process);
        expectToken(await underTest.logIn());
      });
    });

    it('go on as they were where the new configuration has faults', async () => {
      await withWorkers(async (underTest, file) => {
        const before = childrenOf(underTest.process.pid);
        await writeFile(file, '');
        process.kill(underTest.process.pid, 'SIGHUP');
        const { faults } = await underTest.process.logLine(({ msg }) =>
          String(msg).startsWith('not reloaded'),
        );
        expect(JSON.stringify(faults)).to.contain('--client-secret-file');
        expect(childrenOf(underTest.process.pid)).to.deep.equal(before);
        expectToken(await underTest.logIn());
      });
    });

    it('finish what is under way', async () => {
      await withWorkers(async (underTest) => {
        const { provider, process: relay } = underTest;
        const proceed = Promise.withResolvers<void>();
        provider.onUser = async (response, call) => {
          await proceed.promise;
          userRecord(response, call);
        };
        const lookups = Array.from({ length: 8 }, () => underTest.lookUp());
        await provider.arrivals(8);
        await reload(relay);
        proceed.resolve();
        for (const answer of await Promise.all(lookups)) {
          expectUser(answer);
          expect(answer.headers.connection).to.equal('close');
        }
      });
    });
  });

  describe('that are being replaced', () => {
    it('answer what comes on a kept connection, and say that it closes', async () => {
      await withWorkers(async (underTest) => {
        const agents = Array.from({ length: 6 }, () => new Agent({ keepAlive: true }));
        const ask = () =>
          Promise.all(agents.map((agent) => underTest.send({ path: loginPath, agent })));
        for (const { headers } of await ask()) expect(headers.connection).to.equal('keep-alive');
        await reload(underTest.process);
        for (const { headers } of await ask()) expect(headers.connection).to.equal('close');
        for (const { headers } of await ask()) expect(headers.connection).to.equal('keep-alive');
        for (const agent of agents) agent.destroy();
      });
    });

    it('are not waited for where all are to end', async () => {
      await withWorkers(async ({ process: relay }) => {
        process.kill(relay.pid, 'SIGHUP');
        // Signals are handled in their order, and a worker takes its time to start.
        process.kill(relay.pid, 'SIGTERM');
        const { code, stdout, stderr } = await relay.ended;
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        expect(stdout).to.contain('"stopping"').and.not.contain('reloaded');
      });
    });
  });

  describe('on SIGTERM or SIGINT', () => {
    it('finish what is under way, and end with their parent', async () => {
      await withWorkers(async (underTest) => {
        const { provider, process: relay } = underTest;
        const held = Promise.withResolvers<() => void>();
        provider.onUser = (response, call) => held.resolve(() => userRecord(response, call));
        const lookup = underTest.lookUp();
        const release = await held.promise;
        // As a terminal and a supervisor do it: to every process.
        for (const pid of [...childrenOf(relay.pid), relay.pid]) process.kill(pid, 'SIGTERM');
        await relay.logLine(({ msg }) => msg === 'stopping');
        release();
        expectUser(await lookup);
        const { code, stderr } = await relay.ended;
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        expect(relay.logLines.filter(({ msg }) => msg === 'stopping')).to.have.length(1);
      });
    });

    it('end at once on the second one', async () => {
      await withWorkers(async (underTest) => {
        underTest.provider.onUser = () => {};
        const lookup = underTest.lookUp().catch(({ code }) => code);
        await underTest.provider.arrivals(1);
        process.kill(underTest.process.pid, 'SIGINT');
        await underTest.process.logLine(({ msg }) => msg === 'stopping');
        process.kill(underTest.process.pid, 'SIGINT');
        expect((await underTest.process.ended).signal).to.equal('SIGINT');
        expect(await lookup).to.equal('ECONNRESET');
      });
    });
  });

  describe('are counted', () => {
    const flags = { 'metrics-port': '0' };

    function figure(text: string, name: string): number {
      const value = text.split('\n').find((line) => line.startsWith(`${name} `));
      return Number(value?.split(' ')[1]);
    }

    const started = 'login_relay_logins_started_total';

    it('as if they were one', async () => {
      await withWorkers(
        async (underTest) => {
          await answering(underTest);
          const requests = underTest.process.logLines.filter(({ msg }) => msg === 'request').length;
          const text = await metricsOf(underTest);
          expect(figure(text, started)).to.equal(requests);
          const route = `{route="${loginPath}",status="307"}`;
          expect(figure(text, `login_relay_request_duration_seconds_count${route}`)).to.equal(
            requests,
          );
          expect(figure(text, 'login_relay_workers')).to.equal(2);
          expect(figure(text, 'login_relay_workers_replaced_total')).to.equal(0);
          expect(text).to.match(/login_relay_build_info\{[^}]+\} 1\n/);
          expect(figure(text, 'login_relay_nodejs_eventloop_lag_p99_seconds')).to.be.above(0);
          expect(figure(text, 'login_relay_process_start_time_seconds')).to.be.closeTo(
            Date.now() / 1000,
            600,
          );
        },
        { flags },
      );
    });

    it('on, whatever becomes of the single one', async () => {
      await withWorkers(
        async (underTest) => {
          const { process: relay } = underTest;
          const [victim = 0] = await answering(underTest);
          const before = figure(await metricsOf(underTest), started);
          process.kill(victim, 'SIGKILL');
          await relay.logLine(({ worker }) => worker === victim);
          await answering(underTest);
          await reload(relay);
          const requests = relay.logLines.filter(({ msg }) => msg === 'request').length;
          const text = await metricsOf(underTest);
          expect(requests).to.be.above(before);
          expect(figure(text, started)).to.equal(requests);
          expect(figure(text, 'login_relay_workers_replaced_total')).to.equal(1);
        },
        { flags },
      );
    });
  });

  describe('keep the client secret, which they get from their parent, out of sight', () => {
    const secrets = {
      'as a flag': {
        flags: { 'client-secret-file': undefined, 'client-secret': canary('secret') },
      },
      'as a variable': {
        flags: { 'client-secret-file': undefined },
        env: { PROVIDER_CLIENT_SECRET: canary('secret') },
      },
      'in a file': {},
      'beside the password of a proxy': {
        env: { HTTPS_PROXY: `http://user:${canary('secret')}@127.0.0.1:9` },
      },
    };
    for (const [how, invocation] of Object.entries(secrets)) {
      it(`when it is given ${how}`, async () => {
        await withWorkers(async (underTest) => {
          const workers = childrenOf(underTest.process.pid);
          expect(workers).to.have.length(2);
          for (const pid of workers) {
            expect(commandLineOf(pid)).to.match(/^login-relay worker\0/);
            expect([...canariesIn(environmentOf(pid) + commandLineOf(pid))]).to.deep.equal([]);
          }
          expect([...canariesIn(commandLineOf(underTest.process.pid))]).to.deep.equal([]);
        }, invocation);
      });
    }
  });
});
