import { describeDemo, startDemo } from '../demo/demo.ts';

/**
 * `login-relay demo`: runs a provider, the relay and a front end until it is told to stop.
 *
 * @param port the first of three
 * @throws {ConfigError} @throws {ListenError}
 */
export async function demo(port: number, stopped: () => Promise<string>): Promise<void> {
  const running = await startDemo({ port });
  process.stdout.write(describeDemo(running));
  await stopped();
  await running.close();
}
