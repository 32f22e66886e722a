import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { readConfig } from '../config/config.ts';
import { createLogger, flushLog } from '../observability/log.ts';
import { createRelay } from '../relay/relay.ts';
import { createDashboard } from './dashboard.ts';
import { createFrontEnd } from './front-end.ts';
import { notesPath } from './notes.ts';
import type { OwnPage } from './own-page.ts';
import { type DemoPage, demoPages, frontEndSettings } from './pages.ts';
import { type DemoOptions, type DemoPorts, type OpenPort, openDemoPorts } from './ports.ts';
import { createDemoProvider } from './provider.ts';
import { createSteps } from './steps.ts';

export type Demo = Awaited<ReturnType<typeof startDemo>>;

/**
 * Starts the provider, the relay, the front ends and the dashboard of the demo, on loopback only.
 *
 * @param logger by default, requests are written to standard output, for people
 * @throws {ConfigError} if the port is not a whole number, or too high
 * @throws {ListenError} if one of the ports cannot be opened
 */
export async function startDemo(options: DemoOptions, logger?: Logger) {
  const opened: OpenPort[] = [];
  const closePorts = () => Promise.all(opened.map(({ close }) => close()));
  try {
    const log = logger ?? (await createLogger({ level: 'info', format: 'pretty' }));
    const ports = await openDemoPorts(options, opened);
    const { relay, frontEnd, provider, dashboard, isUsualPortTaken } = ports;
    const { own } = options;
    const config = readDemoConfig(ports, own);
    const [{ clientId, clientSecret, callbackUri }] = config.registrations;
    const credentials = { clientId, clientSecret: clientSecret.reveal(), callbackUri };
    const client = { ...credentials, name: 'the relay’s demo' };
    const onError = ({ message }: Error) => log.error({ message }, 'the demo provider failed');
    provider.serve(createDemoProvider(provider.url, client, onError));
    const steps = createSteps();
    const dashboardUrl = buildDashboardUrl(relay);
    frontEnd.serve(createFrontEnd({ relayUrl: relay.url, dashboardUrl }, Object.values(demoPages), steps));
    dashboard.serve(createDashboard(frontEnd.url));
    const { listener, close } = await createRelay(config, log, { observers: [steps.observe] });
    relay.serve(listener);
    return {
      relayUrl: relay.url,
      frontEndUrl: frontEnd.url,
      notesUrl: frontEnd.url + notesPath,
      providerUrl: provider.url,
      dashboardUrl,
      own,
      /** Whether another program uses one of the usual ports, from 8000 on, so that the demo uses later ones. */
      isUsualPortTaken,
      /** Ends the servers and every connection to them, and writes the rest of the log. */
      async close(): Promise<void> {
        await closePorts();
        close();
        await flushLog(log);
      },
    };
  } catch (error) {
    await closePorts();
    throw error;
  }
}

/** Reads the configuration file of the demo as a relay does. The file and its new secrets stay in memory. */
function readDemoConfig({ relay, provider, frontEnd, dashboard }: DemoPorts, own: OwnPage | undefined) {
  // Browsers open the provider at localhost. The relay calls it by its address, which needs no name lookup.
  const backChannel = `http://127.0.0.1:${provider.port}`;
  // A plain login that names no front end belongs to the first front end with plain logins, which must be `contract`.
  const { contract, ...others } = demoPages;
  const ordered: readonly DemoPage[] = [contract, ...Object.values(others)];
  const providers = {
    // The documentation uses this name in paths: `/auth/provider`.
    provider: {
      // CMSes only log in at presets that they support.
      provider: 'github',
      'authorize-url': `${provider.url}/authorize`,
      'token-url': `${backChannel}/token`,
      'user-url': `${backChannel}/me`,
      'revocation-url': `${backChannel}/revoke`,
      'client-id': 'login-relay-demo',
      'client-secret': randomSecret(),
      'token-request': 'body',
      scope: 'openid profile',
    },
  };
  const frontEnds: Record<string, object> = own ? { app: ownPageSettings(own) } : {};
  for (const page of ordered) frontEnds[page.name] = frontEndSettings(page, frontEnd.url);
  const file = {
    'base-url': relay.url,
    port: relay.port,
    'key-file': './key',
    providers,
    resources: {
      // The resource has the name of its front end, because `steps.ts` shows its requests at the front end of this name.
      notes: { url: frontEnd.url + notesPath },
      dashboard: { url: buildDashboardUrl(relay), upstream: dashboard.address, browser: true },
    },
    'front-ends': frontEnds,
  };
  const configPath = 'demo.yaml';
  const readFile = (path: string) => ({
    text: path === configPath ? JSON.stringify(file) : randomSecret(),
    readableByOthers: false,
  });
  return readConfig({ flags: { config: [configPath] }, environment: {}, readFile }).config;
}

/** The dashboard's URL. It has a host of its own, because its cookie opens everything at its host. */
const buildDashboardUrl = ({ port }: OpenPort) => `http://dashboard.localhost:${port}/`;

const randomSecret = () => randomBytes(32).toString('base64url');

/** The settings of the user's own page, as a front end in a configuration file. */
function ownPageSettings({ origin, tokenDelivery }: OwnPage) {
  const settings = { origin, 'token-delivery': tokenDelivery };
  // With sessions, the page itself shows failures, because the relay redirects to it by default.
  return tokenDelivery === 'session' ? settings : { ...settings, 'error-delivery': 'page' };
}
