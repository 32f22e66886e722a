import type { Logger } from 'pino';
import { createLogger } from '../observability/log.ts';
import { createRelay } from '../relay/relay.ts';
import { deliveries } from './deliveries.ts';
import { createFrontEnd } from './front-end.ts';
import { type DemoOptions, openDemoPorts } from './ports.ts';
import { createDemoProvider } from './provider.ts';
import { createClient, readDemoConfig } from './setup.ts';
import { createSteps } from './steps.ts';

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
  const closers: (() => Promise<void>)[] = [];
  const closeAll = () => Promise.all(closers.map((close) => close()));
  try {
    const log = logger ?? (await createLogger({ level: 'info', format: 'pretty' }));
    const ports = await openDemoPorts(options, closers);
    const { relay, frontEnd, provider, movedOn } = ports;
    const { own } = options;
    const client = createClient(ports);
    const steps = createSteps();
    const onError = ({ message }: Error) => log.error({ message }, 'the demo provider failed');
    provider.serve(createDemoProvider(provider.url, client, onError));
    const pages = Object.values(deliveries);
    frontEnd.serve(createFrontEnd({ relayUrl: relay.url, pages, steps }));
    const config = readDemoConfig(ports, client, own);
    const { listener, close } = await createRelay(config, log, { observers: [steps.observe] });
    relay.serve(listener);
    return {
      // Each address is `http://localhost:<port>`.
      relayUrl: relay.url,
      frontEndUrl: frontEnd.url,
      providerUrl: provider.url,
      own,
      /** Whether another program uses one of the usual ports, from 8000 on. */
      movedOn,
      /** Ends the servers and every connection to them. */
      async close(): Promise<void> {
        await closeAll();
        close();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
