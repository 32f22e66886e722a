import { startDemo } from '../../demo/demo.ts';
import { describeDemo } from '../../demo/describe.ts';
import { parseOwnPage } from '../../demo/own-page.ts';
import { print } from '../print.ts';
import type { Signals } from '../signals.ts';

/** The flags of the command, as given. */
export interface DemoFlags {
  readonly port?: string;
  readonly origin?: string;
  readonly tokenDelivery?: string;
}

/**
 * `login-relay demo`: runs a provider, the relay and a front end until it is told to stop.
 *
 * @throws {ConfigError} @throws {ListenError}
 */
export async function demo(flags: DemoFlags, signals: Signals): Promise<void> {
  const { port } = flags;
  const running = await startDemo({
    port: port === undefined ? undefined : Number(port),
    own: parseOwnPage(flags),
  });
  await print(describeDemo(running));
  await signals.stop();
  await running.close();
}
