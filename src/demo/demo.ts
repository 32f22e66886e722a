import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { readConfig } from '../config/config.ts';
import { createLogger } from '../observability/log.ts';
import { createRelay } from '../relay/relay.ts';
import { ConfigError } from '../start-errors.ts';
import { createFrontEnd } from './front-end.ts';
import { type OpenPort, openPort } from './open-port.ts';
import { createDemoProvider } from './provider.ts';

const highestFirstPort = 65533;

/** A demo that runs: each address is `http://localhost:<port>`. */
export interface Demo {
  readonly relayUrl: string;
  readonly frontEndUrl: string;
  readonly providerUrl: string;
  /** Ends the three servers and every connection to them. */
  close(): Promise<void>;
}

/**
 * Starts a provider, the relay against it, and a front end, on loopback only.
 *
 * @param options.port the relay's port; the front end takes the next one and the provider the one
 *   after that. 0 takes any three free ports.
 * @param options.logger by default, only errors are written
 * @throws {ConfigError} where the port is not a whole number from 0 to 65533
 * @throws {ListenError} where one of the ports cannot be opened
 */
export async function startDemo(options: {
  readonly port: number;
  readonly logger?: Logger;
}): Promise<Demo> {
  const { port } = options;
  if (!Number.isInteger(port) || port < 0 || port > highestFirstPort) {
    throw new ConfigError([`--port must be a whole number from 0 to ${highestFirstPort}`]);
  }
  const logger = options.logger ?? (await createLogger({ level: 'error', format: 'pretty' }));
  const [relay, frontEnd, provider] = await openPorts(port);

  const clientId = 'login-relay-demo';
  const clientSecret = randomBytes(32).toString('base64url');
  // A browser knows the provider as localhost; the relay's own calls need no name lookup.
  const backChannel = `http://127.0.0.1:${provider.port}`;
  const { config } = readConfig({
    flags: {
      port: [`${relay.port}`],
      origin: [frontEnd.url],
      clientId: [clientId],
      clientSecret: [clientSecret],
      authorizeUrl: [`${provider.url}/authorize`],
      tokenUrl: [`${backChannel}/token`],
      userUrl: [`${backChannel}/me`],
      scope: ['openid profile'],
      tokenRequest: ['body'],
      errorDelivery: ['page'],
    },
    environment: {},
    readFile: () => {
      throw new Error('the demo reads no file');
    },
  });

  provider.serve(
    createDemoProvider({
      issuer: provider.url,
      client: {
        clientId,
        clientSecret,
        redirectUri: config.redirectUri,
        name: 'the relay’s demo page',
        homeUrl: frontEnd.url,
      },
      pkceRequired: true,
      onError: ({ message }) => logger.error({ message }, 'the demo provider failed'),
    }),
  );
  frontEnd.serve(createFrontEnd(relay.url, provider.url));
  const { listener, close } = await createRelay(config, logger);
  relay.serve(listener);

  return {
    relayUrl: relay.url,
    frontEndUrl: frontEnd.url,
    providerUrl: provider.url,
    async close() {
      await Promise.all([relay.close(), frontEnd.close(), provider.close()]);
      close();
    },
  };
}

/** What to tell a person about a demo that has just started; ends with a newline. */
export function describeDemo(demo: Omit<Demo, 'close'>): string {
  const { relayUrl, frontEndUrl, providerUrl } = demo;
  return `
  The demo runs, on this machine alone:

    front end   ${frontEndUrl}
    relay       ${relayUrl}
    provider    ${providerUrl}

  Open ${frontEndUrl} and click “Log in”. At the provider any name will do.
  Ctrl-C stops the demo.

`;
}

async function openPorts(first: number): Promise<[OpenPort, OpenPort, OpenPort]> {
  const following = (offset: number) => (first === 0 ? 0 : first + offset);
  const opened: OpenPort[] = [];
  try {
    const relay = await openPort(first, 'the relay');
    opened.push(relay);
    const frontEnd = await openPort(following(1), 'the front end');
    opened.push(frontEnd);
    return [relay, frontEnd, await openPort(following(2), 'the provider')];
  } catch (error) {
    await Promise.all(opened.map((port) => port.close()));
    throw error;
  }
}
