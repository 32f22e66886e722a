import { type Demo, startDemo } from '../../demo/demo.ts';
import { describeOwnPage, parseOwnPage } from '../../demo/own-page.ts';
import { ConfigError } from '../../failures/start-errors.ts';
import { print } from '../print.ts';
import { waitForStopSignal } from '../stop.ts';

export type DemoFlags = Readonly<Partial<Record<'port' | 'origin' | 'tokenDelivery', string>>>;

/**
 * `login-relay demo`: runs a provider, the relay and a front end until it is stopped.
 *
 * @throws {ConfigError} @throws {ListenError}
 */
export async function demo(flags: DemoFlags): Promise<void> {
  const { port, origin } = flags;
  // npm keeps options for itself unless they follow `--`.
  if (origin === undefined && process.env['npm_config_origin'] !== undefined) {
    throw new ConfigError(['npm has taken --origin: write npm run demo -- --origin …']);
  }
  const own = parseOwnPage(flags);
  const running = await startDemo({ port: port === undefined ? undefined : Number(port), own });
  await print(describeDemo(running));
  await waitForStopSignal();
  await running.close();
}

/** Describes the running demo for the terminal. */
export function describeDemo(demo: Omit<Demo, 'close'>): string {
  const { frontEndUrl, notesUrl, relayUrl, providerUrl, dashboardUrl, own, isUsualPortTaken } = demo;
  return `
  The demo runs on this machine only:

    front end   ${frontEndUrl}
    relay       ${relayUrl}
    provider    ${providerUrl}
    notes       ${notesUrl}
    dashboard   ${dashboardUrl}
${isUsualPortTaken ? '\n  Not all of the usual ports from 8000 on are free: the demo uses the next free ones.\n' : ''}
  Open ${frontEndUrl} and click “Log in”. At the provider any name will do.
  “Your own API” reads the notes. To see where its clients log in: curl -i ${notesUrl}
${own ? describeOwnPage(relayUrl, own) : ''}
  Each request to the relay appears below. Ctrl-C stops the demo.

`;
}
