import type { Logger } from 'pino';
import { createLogger } from '../observability/log.ts';
import { createRelay } from '../relay/relay.ts';
import { configurationFile, readDemoConfig } from './configuration.ts';
import { createFrontEnd } from './front-end.ts';
import { type DemoPorts, openDemoPorts } from './open-ports.ts';
import type { OwnPage } from './own-page.ts';
import { createDemoProvider } from './provider.ts';
import { setupOf, sitesOf } from './setup.ts';
import { Steps } from './steps.ts';

/** What the demo shows. */
export interface DemoOptions {
  /**
   * The relay's port; the others follow. 0 takes any free ports. Undefined: the first free ones from
   * 8000 on.
   */
  readonly port: number | undefined;
  /** Whether there is a second provider, and a second front end that uses only that one. */
  readonly several?: boolean;
  /** A page of the user's own, which the relay serves as well. */
  readonly own?: OwnPage | undefined;
}

/** What a running demo says about itself: each address is `http://localhost:<port>`. */
export interface DemoDescription {
  readonly relayUrl: string;
  readonly frontEndUrl: string;
  readonly providerUrl: string;
  /** The second front end, and the provider that it uses. */
  readonly second: { readonly frontEndUrl: string; readonly providerUrl: string } | undefined;
  readonly own: OwnPage | undefined;
  /** Whether another program uses one of the usual ports, from 8000 on. */
  readonly movedOn: boolean;
  /** The relay's configuration file. */
  readonly configuration: string;
}

/** A demo that runs. */
export interface Demo extends DemoDescription {
  /** Ends the servers and every connection to them. */
  close(): Promise<void>;
}

/**
 * Starts a provider, the relay against it, and a front end, on loopback only.
 *
 * @param logger by default, requests are written to standard output, for people
 * @throws {ConfigError} if the port is not a whole number, or too high
 * @throws {ListenError} if one of the ports cannot be opened
 */
export async function startDemo(options: DemoOptions, logger?: Logger): Promise<Demo> {
  const log = logger ?? (await createLogger({ level: 'info', format: 'pretty' }));
  const ports = await openDemoPorts(options);
  const { relay, frontEnd, provider, second, movedOn } = ports;
  const { configuration, close } = await serve(ports, options.own, log).catch(
    async (error: unknown) => {
      await ports.close();
      throw error;
    },
  );
  return {
    relayUrl: relay.url,
    frontEndUrl: frontEnd.url,
    providerUrl: provider.url,
    second: second && { frontEndUrl: second.frontEnd.url, providerUrl: second.provider.url },
    own: options.own,
    movedOn,
    configuration,
    async close() {
      await ports.close();
      close();
    },
  };
}

/** Serves every port. */
async function serve(ports: DemoPorts, own: OwnPage | undefined, log: Logger) {
  const { relay } = ports;
  const sites = sitesOf(ports);
  const setup = setupOf(relay, sites, own);
  for (const { name, brand, port, homeUrl, clientId, clientSecret } of sites.providers) {
    const redirectUri = `${relay.url}/auth/${name}/callback`;
    const client = { clientId, clientSecret, redirectUri, name: 'the relay’s demo', homeUrl };
    const onError = ({ message }: Error) => log.error({ message }, 'the demo provider failed');
    port.serve(
      createDemoProvider({ issuer: port.url, brand, client, pkceRequired: true, onError }),
    );
  }
  const steps = new Steps();
  for (const { port, pages, provider } of sites.frontEnds) {
    const pictureOrigin = provider.port.url;
    const registration = provider.name;
    port.serve(createFrontEnd({ relayUrl: relay.url, registration, pages, pictureOrigin, steps }));
  }
  const config = readDemoConfig(setup);
  const { listener, close } = await createRelay(config, log, { observers: [steps.observe] });
  relay.serve(listener);
  return { configuration: configurationFile(setup), close };
}
