import { describeDemo, startDemo } from '../../demo/demo.ts';
import type { Signals } from '../signals.ts';

/**
 * `login-relay demo`: runs a provider, the relay and a front end until it is told to stop.
 *
 * @param port the first of three
 * @throws {ConfigError} @throws {ListenError}
 */
export async function demo(port: number, signals: Signals): Promise<void> {
  const running = await startDemo({ port });
  process.stdout.write(describeDemo(running));
  await signals.stop();
  await running.close();
}
