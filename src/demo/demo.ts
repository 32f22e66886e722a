import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { createLogger } from '../observability/log.ts';
import { createRelay } from '../relay/relay.ts';
import {
  configurationFile,
  type DemoFrontEnd,
  type DemoSetup,
  readDemoConfig,
} from './configuration.ts';
import { deliveries, frontEndOf } from './deliveries.ts';
import { createFrontEnd } from './front-end.ts';
import { type DemoPorts, openDemoPorts } from './open-ports.ts';
import { createDemoProvider } from './provider.ts';
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
  /** The origin of a page of the user's own, which the relay serves as well. */
  readonly origin?: string | undefined;
}

/** A demo that runs: each address is `http://localhost:<port>`. */
export interface Demo {
  readonly relayUrl: string;
  readonly frontEndUrl: string;
  readonly providerUrl: string;
  /** The second front end, and the provider that it uses. */
  readonly second: { readonly frontEndUrl: string; readonly providerUrl: string } | undefined;
  /** The origin of the user's own page. */
  readonly origin: string | undefined;
  /** Whether another program uses one of the usual ports, from 8000 on. */
  readonly movedOn: boolean;
  /** The relay's configuration file. */
  readonly configuration: string;
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
  const { relay, frontEnd, provider, second } = ports;
  const setup = setupOf(ports, options.origin);
  const config = readDemoConfig(setup);
  for (const { name, clientId, clientSecret } of setup.registrations) {
    const isSecond = name === secondProvider;
    const port = isSecond ? second?.provider : provider;
    port?.serve(
      createDemoProvider({
        issuer: port.url,
        brand: isSecond ? 'Staff provider' : 'Demo provider',
        client: {
          clientId,
          clientSecret,
          redirectUri: `${relay.url}/auth/${name}/callback`,
          name: 'the relay’s demo',
          homeUrl: (isSecond ? second?.frontEnd : frontEnd)?.url ?? relay.url,
        },
        pkceRequired: true,
        onError: ({ message }) => log.error({ message }, 'the demo provider failed'),
      }),
    );
  }
  const steps = new Steps();
  frontEnd.serve(
    createFrontEnd({
      relayUrl: relay.url,
      registration: firstProvider,
      pages: Object.values(deliveries).map((delivery) => ({ delivery, clientId: delivery.name })),
      pictureOrigin: provider.url,
      steps,
    }),
  );
  second?.frontEnd.serve(
    createFrontEnd({
      relayUrl: relay.url,
      registration: secondProvider,
      pages: [{ delivery: deliveries.oauth, clientId: 'intranet' }],
      pictureOrigin: second.provider.url,
      steps,
    }),
  );
  const { listener, close } = await createRelay(config, log, Date.now, [steps.observe]);
  relay.serve(listener);

  return {
    relayUrl: relay.url,
    frontEndUrl: frontEnd.url,
    providerUrl: provider.url,
    second: second && { frontEndUrl: second.frontEnd.url, providerUrl: second.provider.url },
    origin: options.origin,
    movedOn: ports.movedOn,
    configuration: configurationFile(setup),
    async close() {
      await ports.close();
      close();
    },
  };
}

/** The name that the documents use in paths: `/auth/provider`. */
const firstProvider = 'provider';
const secondProvider = 'staff';

function setupOf(ports: DemoPorts, origin: string | undefined): DemoSetup {
  const { relay, frontEnd, provider, second } = ports;
  const registration = (name: string, { url, port }: typeof provider) => ({
    name,
    url,
    port,
    clientId: 'login-relay-demo',
    clientSecret: randomBytes(32).toString('base64url'),
  });
  const { contract, ...others } = deliveries;
  const shown = [contract, ...Object.values(others)];
  // A login that names no front end, as in the contract, belongs to the first one of these that can do so.
  const frontEnds: Record<string, DemoFrontEnd> = {
    ...(origin !== undefined && { app: { origin, 'error-delivery': 'page' } }),
    ...Object.fromEntries(shown.map((one) => [one.name, frontEndOf(one, frontEnd.url)])),
    ...(second && {
      intranet: {
        ...frontEndOf(deliveries.oauth, second.frontEnd.url),
        providers: [secondProvider],
      },
    }),
  };
  return {
    relay,
    registrations: [
      registration(firstProvider, provider),
      ...(second ? [registration(secondProvider, second.provider)] : []),
    ],
    frontEnds,
  };
}
