import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { type Config, readConfig } from '../config/config.ts';
import { type Delivery, deliveries, type FrontEndSettings, frontEndOf } from './deliveries.ts';
import type { OwnPage } from './own-page.ts';
import type { DemoPorts, OpenPort } from './ports.ts';

/** A front end of the demo: a page for each of its deliveries, and the provider that it uses. */
type Site = ReturnType<typeof sitesOf>[number];

/** Distributes the ports among the front ends and the providers. */
export function sitesOf({ relay, provider, frontEnd, second }: DemoPorts) {
  const providerAt = (port: OpenPort, name: string, brand: string) => ({
    port,
    /** Its name in the relay's paths. */
    name,
    /** The heading of its pages. */
    brand,
    client: {
      clientId: 'login-relay-demo',
      clientSecret: randomBytes(32).toString('base64url'),
      redirectUri: `${relay.url}/auth/${name}/callback`,
      name: 'the relay’s demo',
    },
  });
  const demo = {
    port: frontEnd,
    pages: Object.values<Delivery>(deliveries),
    // The name that the documents use in paths: `/auth/provider`.
    provider: providerAt(provider, 'provider', 'Demo provider'),
  };
  if (second === undefined) return [demo];
  const intranet = {
    port: second.frontEnd,
    pages: [{ ...deliveries.oauth, name: 'intranet' }],
    provider: providerAt(second.provider, 'staff', 'Staff provider'),
  };
  return [demo, intranet];
}

/** The configuration file of the demo's relay. It names the files of the secrets. */
export function configurationFile(
  { url, port }: OpenPort,
  sites: readonly Site[],
  own: OwnPage | undefined,
): string {
  const [demo, intranet] = sites;
  if (demo === undefined) throw new Error('the demo has no front end');
  const settings = {
    'base-url': url,
    port,
    providers: {
      // CMSes log in only at the presets that they have a backend for.
      [demo.provider.name]: { provider: 'github', ...settingsOf(demo.provider) },
      ...(intranet && { [intranet.provider.name]: settingsOf(intranet.provider) }),
    },
    'front-ends': frontEndsOf(demo, intranet, own),
  };
  return stringify(settings, { lineWidth: 0 });
}

function settingsOf({ name, port: { port, url }, client }: Site['provider']) {
  // Browsers know the provider as localhost. The relay calls its address, without a name lookup.
  const backChannel = `http://127.0.0.1:${port}`;
  return {
    'authorize-url': `${url}/authorize`,
    'token-url': `${backChannel}/token`,
    'user-url': `${backChannel}/me`,
    'revocation-url': `${backChannel}/revoke`,
    'client-id': client.clientId,
    'client-secret-file': secretFileOf(name),
    'token-request': 'body',
    scope: 'openid profile',
  };
}

const secretFileOf = (provider: string) => `./${provider}-secret`;

/** A login that names no front end, as in the contract, belongs to the first one that can do so. */
function frontEndsOf(
  demo: Site,
  intranet: Site | undefined,
  own: OwnPage | undefined,
): Readonly<Record<string, FrontEndSettings>> {
  const { contract, ...others } = deliveries;
  const shown = [contract, ...Object.values(others)];
  const at = ({ port, provider }: Site, delivery: Delivery): FrontEndSettings => ({
    ...frontEndOf(delivery, port.url),
    providers: [provider.name],
  });
  return {
    ...(own && { app: settingsOfOwn(own) }),
    ...Object.fromEntries(shown.map((one) => [one.name, frontEndOf(one, demo.port.url)])),
    ...(intranet && {
      cms: at(demo, deliveries.cms),
      intranet: at(intranet, deliveries.oauth),
    }),
  };
}

function settingsOfOwn({ origin, tokenDelivery }: OwnPage): FrontEndSettings {
  const settings = { origin, 'token-delivery': tokenDelivery };
  return tokenDelivery === 'session' ? settings : { ...settings, 'error-delivery': 'page' };
}

/** Reads the configuration file of the demo as a relay does. The file and the secrets stay in memory. */
export function readDemoConfig(file: string, sites: readonly Site[]): Config {
  const path = './demo.yaml';
  const files = new Map([[path, file]]);
  for (const { provider } of sites) {
    files.set(secretFileOf(provider.name), provider.client.clientSecret);
  }
  const { config } = readConfig({
    flags: { config: [path] },
    environment: {},
    readFile(name) {
      const text = files.get(name);
      if (text === undefined) throw new Error('the demo reads only its own files');
      return { text, readableByOthers: false };
    },
  });
  return config;
}
