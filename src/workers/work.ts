import { once } from 'node:events';
import { ConfigError } from '../config/config-error.ts';
import { readConfigSnapshot } from '../config/config-snapshot.ts';
import { ListenError } from '../listen-error.ts';
import { createLogger, flushLog } from '../log.ts';
import { type ListeningRelay, prepareRelay } from '../relay.ts';
import { endOnUncaughtErrors } from '../uncaught-errors.ts';
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts';

/**
 * Runs the relay in one of several processes: does what the parent says, and nothing else. When the
 * parent has gone, Node ends the process at once.
 *
 * @throws {ConfigError} where there is no parent
 */
export async function work(): Promise<void> {
  if (!process.connected) throw new ConfigError(['worker is a command of login-relay itself']);
  process.title = 'login-relay worker';
  // A terminal or a supervisor may send them to all processes: the parent alone decides.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

  const told = {
    toStart: Promise.withResolvers<WorkerStart>(),
    toListen: Promise.withResolvers<void>(),
    toStop: Promise.withResolvers<number>(),
  };
  let tellMetrics = async () => {};
  process.on('message', (message: ToWorker) => {
    if (message.type === 'start') told.toStart.resolve(message);
    if (message.type === 'listen') told.toListen.resolve();
    if (message.type === 'metrics') void tellMetrics();
    if (message.type === 'stop') told.toStop.resolve(message.idleTime);
  });

  const { snapshot, socket } = await told.toStart.promise;
  const config = readConfigSnapshot(snapshot);
  const { logLevel: level, logFormat: format } = config;
  const logger = await createLogger({ level, format, pid: process.pid });
  endOnUncaughtErrors(logger);
  const { metrics, created, listen } = await prepareRelay(config, logger);
  const count = async () => (await metrics?.snapshot()) ?? [];
  tellMetrics = async () => tell({ type: 'metrics', metrics: await count() });
  await created;
  await tell({ type: 'prepared' });

  await told.toListen.promise;
  let relay: ListeningRelay;
  try {
    relay = await listen(socket);
  } catch (error) {
    if (!(error instanceof ListenError || error instanceof ConfigError)) throw error;
    await tell({ type: 'not_listening', reason: error.message });
    return;
  }
  await tell({ type: 'listening', address: relay.address });
  const idleTime = await told.toStop.promise;
  await relay.stop(idleTime);
  await flushLog(logger);
  const gone = once(process, 'disconnect');
  await tell({ type: 'stopped', metrics: await count() });
  await gone;
}

/** Resolves once the message is on its way, whatever becomes of this process. */
async function tell(message: FromWorker): Promise<void> {
  await new Promise((resolve) => process.send?.(message, resolve));
}
