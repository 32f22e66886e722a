import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { readConfig } from '../config/config.ts';
import { loginConfig } from '../config/login-config.ts';
import { createLogger } from '../observability/log.ts';
import { createRelay } from '../relay/relay.ts';
import { ConfigError } from '../start-errors.ts';
import { createFrontEnd } from './front-end.ts';
import { type OpenPort, openFreePort, openPort } from './open-port.ts';
import { createDemoProvider } from './provider.ts';

const highestFirstPort = 65533;
/** The relay, the front end and the provider use this port and the next two, if they are free. */
const usualPort = 8000;

/** A demo that runs: each address is `http://localhost:<port>`. */
export interface Demo {
  readonly relayUrl: string;
  readonly frontEndUrl: string;
  readonly providerUrl: string;
  /** Whether another program uses one of the ports 8000 to 8002. */
  readonly movedOn: boolean;
  /** Ends the three servers and every connection to them. */
  close(): Promise<void>;
}

/**
 * Starts a provider, the relay against it, and a front end, on loopback only.
 *
 * @param options.port the relay's port; the front end takes the next one and the provider the one
 *   after that. 0 takes any three free ports. Undefined: the first free ones from 8000 on.
 * @param options.logger by default, only errors are written
 * @throws {ConfigError} if the port is not a whole number from 0 to 65533
 * @throws {ListenError} if one of the ports cannot be opened
 */
export async function startDemo(options: {
  readonly port: number | undefined;
  readonly logger?: Logger;
}): Promise<Demo> {
  const { port } = options;
  const isUsable =
    port === undefined || (Number.isInteger(port) && port >= 0 && port <= highestFirstPort);
  if (!isUsable) {
    throw new ConfigError([`--port must be a whole number from 0 to ${highestFirstPort}`]);
  }
  const logger = options.logger ?? (await createLogger({ level: 'error', format: 'pretty' }));
  const [relay, frontEnd, provider] = await openPorts(port);

  const clientId = 'login-relay-demo';
  const clientSecret = randomBytes(32).toString('base64url');
  // Browsers know the provider as localhost. The relay calls its address, without a name lookup.
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
        redirectUri: loginConfig(config).redirectUri,
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
    movedOn: port === undefined && provider.port !== usualPort + 2,
    async close() {
      await Promise.all([relay.close(), frontEnd.close(), provider.close()]);
      close();
    },
  };
}

/** The text for the terminal once the demo has started. It ends with a newline. */
export function describeDemo(demo: Omit<Demo, 'close'>): string {
  const { relayUrl, frontEndUrl, providerUrl, movedOn } = demo;
  const reason = movedOn
    ? '\n  Ports 8000 to 8002 are not all free: the demo uses the next free ones.\n'
    : '';
  return `
  The demo runs on this machine only:

    front end   ${frontEndUrl}
    relay       ${relayUrl}
    provider    ${providerUrl}
${reason}
  Open ${frontEndUrl} and click “Log in”.
  At the provider any name will do. Ctrl-C stops the demo.

`;
}

async function openPorts(first: number | undefined): Promise<[OpenPort, OpenPort, OpenPort]> {
  const opened: OpenPort[] = [];
  const open = async (purpose: string) => {
    const before = opened.at(-1)?.port;
    const port =
      first === undefined
        ? await openFreePort((before ?? usualPort - 1) + 1, purpose)
        : await openPort(first === 0 ? 0 : first + opened.length, purpose);
    opened.push(port);
    return port;
  };
  try {
    return [await open('the relay'), await open('the front end'), await open('the provider')];
  } catch (error) {
    await Promise.all(opened.map((port) => port.close()));
    throw error;
  }
}
