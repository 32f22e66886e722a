import { describeDemo, startDemo } from '../../demo/demo.ts';
import { print } from '../print.ts';
import type { Signals } from '../signals.ts';

/**
 * `login-relay demo`: runs a provider, the relay and a front end until it is told to stop.
 *
 * @param port the first of three; undefined: the first free ones
 * @throws {ConfigError} @throws {ListenError}
 */
export async function demo(port: string | undefined, signals: Signals): Promise<void> {
  const running = await startDemo({ port: port === undefined ? undefined : Number(port) });
  await print(describeDemo(running));
  await signals.stop();
  await running.close();
}
