import cluster, { type Worker } from 'node:cluster';
import { isSea } from 'node:sea';
import { setTimeout as delay } from 'node:timers/promises';
import { options } from '../config/options.ts';
import { limits } from '../limits.ts';
import { ListenError } from '../listen-error.ts';
import type { MetricsSnapshot } from '../metrics/metrics-text.ts';
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts';
import { WorkerError } from './worker-error.ts';

// A worker that is too busy to answer is counted as it was the last time.
const metricsPatience = 1_000;
// A worker closes its connections itself before; one that does not even do that is ended.
const stopDeadline = limits.stopTime + 5_000;

/** A worker as its parent knows it. */
export class WorkerProcess {
  /** Resolves with how it ended: `exit code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  readonly #startedAt = performance.now();
  readonly #prepared = Promise.withResolvers<void>();
  readonly #listening = Promise.withResolvers<string>();
  readonly #awaitingMetrics = new Set<() => void>();
  #metrics: MetricsSnapshot = [];
  #listens = false;
  #toEnd = false;

  /** Starts a process that prepares to listen. */
  constructor(start: WorkerStart) {
    this.#worker = fork(start);
    this.#worker.on('message', (message: FromWorker) => this.#hear(message));
    this.ended = endOf(this.#worker);
    this.ended.then((ending) => {
      this.#prepared.reject(new WorkerError(ending));
      this.#listening.reject(new WorkerError(ending));
    });
    // Who awaits them hears of it; nobody has to.
    this.#prepared.promise.catch(() => {});
    this.#listening.promise.catch(() => {});
    this.#tell({ type: 'start', ...start });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** Milliseconds since its start. */
  get age(): number {
    return performance.now() - this.#startedAt;
  }

  /** Whether it has got as far as listening. */
  get listens(): boolean {
    return this.#listens;
  }

  /** Whether its end was asked for. */
  get toEnd(): boolean {
    return this.#toEnd;
  }

  /** What it has counted, as far as it has told. */
  get lastMetrics(): MetricsSnapshot {
    return this.#metrics;
  }

  /** Resolves once it could listen. @throws {WorkerError} where it ended before */
  async prepared(): Promise<void> {
    await this.#prepared.promise;
  }

  /**
   * Has it listen, once it is prepared.
   *
   * @returns where, as `http://host:port`
   * @throws {ListenError} where the port cannot be opened @throws {WorkerError} where it ended before
   */
  async listen(): Promise<string> {
    await this.prepared();
    this.#tell({ type: 'listen' });
    return await this.#listening.promise;
  }

  /** What it has counted by now. */
  async metrics(): Promise<MetricsSnapshot> {
    const told = new Promise<void>((resolve) => this.#awaitingMetrics.add(resolve));
    this.#tell({ type: 'metrics' });
    await Promise.race([told, this.ended, delay(metricsPatience, undefined, { ref: false })]);
    return this.#metrics;
  }

  /**
   * Lets it finish what is under way, if it listens; resolves once it has ended.
   *
   * @param idleTime milliseconds for kept connections to bring another request
   */
  async stop(idleTime: number): Promise<void> {
    if (!this.#listens) return this.kill();
    this.#toEnd = true;
    this.#tell({ type: 'stop', idleTime });
    const deadline = setTimeout(() => this.kill(), stopDeadline);
    await this.ended;
    clearTimeout(deadline);
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.#toEnd = true;
    this.#worker.process.kill('SIGKILL');
    await this.ended;
  }

  #tell(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.send(message);
  }

  #hear(message: FromWorker): void {
    switch (message.type) {
      case 'prepared':
        this.#prepared.resolve();
        break;
      case 'listening':
        this.#listens = true;
        this.#listening.resolve(message.address);
        break;
      case 'not_listening':
        this.#listening.reject(new ListenError(message.reason));
        break;
      case 'metrics':
        this.#take(message.metrics);
        break;
      case 'stopped':
        this.#take(message.metrics);
        this.#worker.disconnect();
        break;
    }
  }

  #take(metrics: MetricsSnapshot): void {
    this.#metrics = metrics;
    for (const resolve of this.#awaitingMetrics) resolve();
    this.#awaitingMetrics.clear();
  }
}

function fork({ snapshot }: WorkerStart): Worker {
  // The kernel hands out the connections: none is on its way to a worker that ends just then.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // In the executable, what Node takes for the script is the executable itself, which has its options
  // inside: those of the command line would be taken for the relay's.
  cluster.setupPrimary(
    isSea()
      ? { exec: 'worker', args: [], execArgv: [] }
      : { exec: process.argv[1] ?? '', args: ['worker'] },
  );
  return cluster.fork(withoutSecrets(snapshot.environment));
}

// What the relay reads itself goes to a worker as a message: an environment can be looked at.
function withoutSecrets(environment: WorkerStart['snapshot']['environment']): NodeJS.ProcessEnv {
  const own = new Set<string>(Object.values(options).map(({ variable }) => variable));
  const names = Object.keys(environment).filter((name) => own.has(name) || /_proxy$/i.test(name));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.on('exit', (code: number | null, signal: string | null) => {
      resolve(signal ?? `exit code ${code}`);
    });
    worker.on('error', ({ code }: NodeJS.ErrnoException) => {
      // A message that did not reach a worker is followed by its end; a failed start is not.
      if (worker.process.pid === undefined) resolve(code ?? 'no process');
    });
  });
}
