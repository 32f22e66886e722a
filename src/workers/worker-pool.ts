import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ConfigSnapshot } from '../config/config-snapshot.ts';
import { limits } from '../limits.ts';
import { ListenError } from '../listen-error.ts';
import type { MetricsSnapshot } from '../metrics/metrics-text.ts';
import type { WorkerStart } from './messages.ts';
import { WorkerError } from './worker-error.ts';
import { WorkerProcess } from './worker-process.ts';

// A worker that lasted this long did not end because of how it was started.
const steadyAfter = 60_000;
const firstRetry = 1_000;
const longestRetry = 30_000;

/** Where one of the workers belongs, whichever process that is at the time. */
interface Place {
  worker: WorkerProcess;
  /** Milliseconds to wait before the next one is started, should this one end soon. */
  retryIn: number;
}

/** A fixed number of workers that listen on one port. */
export class WorkerPool {
  readonly #logger: Logger;
  readonly #onEnd: (metrics: MetricsSnapshot) => void;
  readonly #living = new Set<WorkerProcess>();
  readonly #places: readonly Place[];
  #howToStart: WorkerStart;
  #address = '';
  #replaced = 0;
  #stopping = false;

  private constructor(
    count: number,
    howToStart: WorkerStart,
    logger: Logger,
    onEnd: (metrics: MetricsSnapshot) => void,
  ) {
    this.#logger = logger;
    this.#onEnd = onEnd;
    this.#howToStart = howToStart;
    const places = Array.from({ length: count }, () => ({ worker: this.#start(), retryIn: 0 }));
    this.#places = places;
  }

  /**
   * Starts workers; the port opens once every one of them could take requests.
   *
   * @param onEnd told what a worker had counted, once it has ended
   * @throws {ListenError} where the port cannot be opened
   * @throws {WorkerError} where one ended while it started
   */
  static async start(
    count: number,
    howToStart: WorkerStart,
    logger: Logger,
    onEnd: (metrics: MetricsSnapshot) => void,
  ): Promise<WorkerPool> {
    const pool = new WorkerPool(count, howToStart, logger, onEnd);
    const workers = pool.#places.map(({ worker }) => worker);
    try {
      await Promise.all(workers.map((worker) => worker.prepared()));
      const [address = ''] = await Promise.all(workers.map((worker) => worker.listen()));
      pool.#address = address;
      return pool;
    } catch (error) {
      await Promise.all(workers.map((worker) => worker.kill()));
      throw error;
    }
  }

  /** Where the workers listen, as `http://host:port`. */
  get address(): string {
    return this.#address;
  }

  /** How many workers take requests. */
  get listening(): number {
    return this.#places.filter(({ worker }) => worker.listens && this.#living.has(worker)).length;
  }

  /** How many workers have ended without being asked to. */
  get replaced(): number {
    return this.#replaced;
  }

  /** What each living worker has counted. */
  async metrics(): Promise<MetricsSnapshot[]> {
    return await Promise.all([...this.#living].map((worker) => worker.metrics()));
  }

  /**
   * Replaces the workers one after the other: a new one listens before the old one stops.
   *
   * @throws {WorkerError} @throws {ListenError} where the first new one does not come up: the old ones
   *   go on
   */
  async replaceAll(snapshot: ConfigSnapshot): Promise<void> {
    try {
      await this.#replaceEach(snapshot);
    } finally {
      // A stop has overtaken it: it has neither succeeded nor failed, and the process ends.
      if (this.#stopping) await new Promise(() => {});
    }
  }

  async #replaceEach(snapshot: ConfigSnapshot): Promise<void> {
    const [first, ...others] = this.#places;
    if (first === undefined || this.#stopping) return;
    const howToStart = { ...this.#howToStart, snapshot };
    const worker = this.#start(howToStart);
    await worker.listen();
    this.#howToStart = howToStart;
    this.#put(first, worker);
    for (const place of others) await this.#fill(place);
  }

  /** Lets every worker finish what is under way; resolves once all have ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#living].map((worker) => worker.stop(limits.stopIdleTime)));
  }

  #start(howToStart = this.#howToStart): WorkerProcess {
    const worker = new WorkerProcess(howToStart);
    this.#living.add(worker);
    worker.ended.then((ending) => this.#onEnded(worker, ending));
    return worker;
  }

  async #fill(place: Place): Promise<void> {
    if (this.#stopping) return;
    const howToStart = this.#howToStart;
    const worker = this.#start(howToStart);
    try {
      await worker.listen();
    } catch (error) {
      if (!(error instanceof WorkerError || error instanceof ListenError)) throw error;
      await this.#fillAgain(place, worker, error.message);
      return;
    }
    if (howToStart === this.#howToStart) this.#put(place, worker);
    // Overtaken by another configuration, whose worker fills the place.
    else void worker.stop(limits.replacedIdleTime);
  }

  async #fillAgain(place: Place, { pid }: WorkerProcess, reason: string): Promise<void> {
    if (this.#stopping) return;
    const { retryIn } = place;
    place.retryIn = Math.min(Math.max(retryIn * 2, firstRetry), longestRetry);
    this.#logger.error({ worker: pid, reason, retryIn }, 'worker ended: another takes its place');
    await delay(retryIn);
    await this.#fill(place);
  }

  #put(place: Place, worker: WorkerProcess): void {
    const before = place.worker;
    place.worker = worker;
    void before.stop(limits.replacedIdleTime);
  }

  #onEnded(worker: WorkerProcess, ending: string): void {
    this.#living.delete(worker);
    this.#onEnd(worker.lastMetrics);
    // One that never listened is the business of who started it.
    if (worker.toEnd || !worker.listens) return;
    this.#replaced += 1;
    const place = this.#places.find((other) => other.worker === worker);
    if (place === undefined) return;
    if (worker.age > steadyAfter) place.retryIn = 0;
    void this.#fillAgain(place, worker, ending);
  }
}
