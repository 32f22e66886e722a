import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { type Config, readConfig } from '../config/config.ts';
import { deliveries, frontEndOf } from './deliveries.ts';
import type { OwnPage } from './own-page.ts';
import type { DemoPorts } from './ports.ts';

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

/** Reads the configuration file of the demo as a relay does. The file and the secret stay in memory. */
export function readDemoConfig(
  ports: DemoPorts,
  { clientId, clientSecret }: ReturnType<typeof createClient>,
  own: OwnPage | undefined,
): Config {
  const { relay, provider, frontEnd } = ports;
  // Browsers know the provider as localhost. The relay calls its address, without a name lookup.
  const backChannel = `http://127.0.0.1:${provider.port}`;
  // A login that names no front end, as in the contract, belongs to the first one that can do so.
  const shown = [deliveries.contract, ...Object.values(deliveries)];
  const file = stringify({
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
        'client-secret': clientSecret,
        'token-request': 'body',
        scope: 'openid profile',
      },
    },
    'front-ends': Object.fromEntries([
      ...(own ? [['app', settingsOf(own)]] : []),
      ...shown.map((one) => [one.name, frontEndOf(one, frontEnd.url)]),
    ]),
  });
  const readFile = () => ({ text: file, readableByOthers: false });
  return readConfig({ flags: { config: ['demo.yaml'] }, environment: {}, readFile }).config;
}

function settingsOf({ origin, tokenDelivery }: OwnPage) {
  const settings = { origin, 'token-delivery': tokenDelivery };
  return tokenDelivery === 'session' ? settings : { ...settings, 'error-delivery': 'page' };
}
