import type { Logger } from 'pino';
import { createLogger } from '../observability/log.ts';
import { createRelay } from '../relay/relay.ts';
import { createFrontEnd } from './front-end.ts';
import { type DemoOptions, openDemoPorts } from './ports.ts';
import { createDemoProvider } from './provider.ts';
import { configurationFile, readDemoConfig, sitesOf } from './setup.ts';
import { Steps } from './steps.ts';

/** A demo that runs. */
export type Demo = Awaited<ReturnType<typeof startDemo>>;

/**
 * Starts a provider, the relay against it, and a front end, on loopback only.
 *
 * @param logger by default, requests are written to standard output, for people
 * @throws {ConfigError} if the port is not a whole number, or too high
 * @throws {ListenError} if one of the ports cannot be opened
 */
export async function startDemo(options: DemoOptions, logger?: Logger) {
  const opened: (() => Promise<void>)[] = [];
  try {
    return await start(options, opened, logger);
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

async function closeAll(opened: readonly (() => Promise<void>)[]): Promise<void> {
  await Promise.all(opened.map((close) => close()));
}

async function start(options: DemoOptions, opened: (() => Promise<void>)[], logger?: Logger) {
  const log = logger ?? (await createLogger({ level: 'info', format: 'pretty' }));
  const ports = await openDemoPorts(options, opened);
  const { relay, frontEnd, provider, second, movedOn } = ports;
  const { own } = options;
  const sites = sitesOf(ports);
  const steps = new Steps();
  for (const site of sites) {
    const { name, brand, client, port } = site.provider;
    const onError = ({ message }: Error) => log.error({ message }, 'the demo provider failed');
    port.serve(
      createDemoProvider({ issuer: port.url, brand, client, pkceRequired: true, onError }),
    );
    const { pages } = site;
    site.port.serve(createFrontEnd({ relayUrl: relay.url, provider: name, pages, steps }));
  }
  const configuration = configurationFile(relay, sites, own);
  const config = readDemoConfig(configuration, sites);
  const { listener, close } = await createRelay(config, log, { observers: [steps.observe] });
  relay.serve(listener);
  return {
    // Each address is `http://localhost:<port>`.
    relayUrl: relay.url,
    frontEndUrl: frontEnd.url,
    providerUrl: provider.url,
    /** The second front end, and the provider that it uses. */
    second: second && { frontEndUrl: second.frontEnd.url, providerUrl: second.provider.url },
    own,
    /** Whether another program uses one of the usual ports, from 8000 on. */
    movedOn,
    /** The relay's configuration file. */
    configuration,
    /** Ends the servers and every connection to them. */
    async close(): Promise<void> {
      await closeAll(opened);
      close();
    },
  };
}
