import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { type Config, readConfig } from '../config/config.ts';
import { deliveries, type FrontEndSettings, frontEndOf } from './deliveries.ts';
import type { OwnPage } from './own-page.ts';
import type { DemoPorts } from './ports.ts';

const secretFile = './client-secret';

/** The relay as a client of the provider, with a new secret. */
export function createClient({ relay }: DemoPorts) {
  return {
    clientId: 'login-relay-demo',
    clientSecret: randomBytes(32).toString('base64url'),
    // The name that the documents use in paths: `/auth/provider`.
    redirectUri: `${relay.url}/auth/provider/callback`,
    name: 'the relay’s demo',
  };
}

/** The configuration file of the demo's relay. It names the file of the secret. */
function configurationFile(
  { relay, provider, frontEnd }: DemoPorts,
  clientId: string,
  own: OwnPage | undefined,
): string {
  // Browsers know the provider as localhost. The relay calls its address, without a name lookup.
  const backChannel = `http://127.0.0.1:${provider.port}`;
  const { contract, ...others } = deliveries;
  // A login that names no front end, as in the contract, belongs to the first one that can do so.
  const shown = [contract, ...Object.values(others)];
  return stringify({
    'base-url': relay.url,
    port: relay.port,
    providers: {
      provider: {
        // CMSes log in only at the presets that they have a backend for.
        provider: 'github',
        'authorize-url': `${provider.url}/authorize`,
        'token-url': `${backChannel}/token`,
        'user-url': `${backChannel}/me`,
        'revocation-url': `${backChannel}/revoke`,
        'client-id': clientId,
        'client-secret-file': secretFile,
        'token-request': 'body',
        scope: 'openid profile',
      },
    },
    'front-ends': {
      ...(own && { app: settingsOfOwn(own) }),
      ...Object.fromEntries(shown.map((one) => [one.name, frontEndOf(one, frontEnd.url)])),
    },
  });
}

function settingsOfOwn({ origin, tokenDelivery }: OwnPage): FrontEndSettings {
  const settings = { origin, 'token-delivery': tokenDelivery };
  return tokenDelivery === 'session' ? settings : { ...settings, 'error-delivery': 'page' };
}

/** Reads the configuration file of the demo as a relay does. The file and the secret stay in memory. */
export function readDemoConfig(
  ports: DemoPorts,
  { clientId, clientSecret }: ReturnType<typeof createClient>,
  own: OwnPage | undefined,
): Config {
  const path = './demo.yaml';
  const files: Readonly<Record<string, string>> = {
    [path]: configurationFile(ports, clientId, own),
    [secretFile]: clientSecret,
  };
  const { config } = readConfig({
    flags: { config: [path] },
    environment: {},
    readFile(name) {
      const text = files[name];
      if (text === undefined) throw new Error('the demo reads only its own files');
      return { text, readableByOthers: false };
    },
  });
  return config;
}
