import { stringify } from 'yaml';
import { type Config, readConfig } from '../config/config.ts';

/** A provider of the demo, as the relay knows it. */
interface DemoRegistration {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly preset?: string;
}

/** A front end, as a configuration file describes it. */
export type DemoFrontEnd = Readonly<Record<string, string | readonly string[]>>;

/** What the demo's relay is configured with. */
export interface DemoSetup {
  readonly relay: { readonly url: string; readonly port: number };
  readonly registrations: readonly DemoRegistration[];
  readonly frontEnds: Readonly<Record<string, DemoFrontEnd>>;
}

const path = './demo.yaml';

/** Describes the demo's relay as a configuration file. It names the files of the secrets. */
export function configurationFile({ relay, registrations, frontEnds }: DemoSetup): string {
  const providers = registrations.map((registration) => [
    registration.name,
    settingsOf(registration),
  ]);
  const settings = {
    'base-url': relay.url,
    port: relay.port,
    providers: Object.fromEntries(providers),
    'front-ends': frontEnds,
  };
  return stringify(settings, { lineWidth: 0 });
}

function settingsOf({ name, url, port, clientId, preset }: DemoRegistration) {
  // Browsers know the provider as localhost. The relay calls its address, without a name lookup.
  const backChannel = `http://127.0.0.1:${port}`;
  return {
    ...(preset && { provider: preset }),
    'authorize-url': `${url}/authorize`,
    'token-url': `${backChannel}/token`,
    'user-url': `${backChannel}/me`,
    'revocation-url': `${backChannel}/revoke`,
    'client-id': clientId,
    'client-secret-file': secretFileOf(name),
    'token-request': 'body',
    scope: 'openid profile',
  };
}

const secretFileOf = (registration: string) => `./${registration}-secret`;

/** Reads the configuration file of the demo as a relay does. The file and the secrets stay in memory. */
export function readDemoConfig(setup: DemoSetup): Config {
  const files = new Map([[path, configurationFile(setup)]]);
  for (const { name, clientSecret } of setup.registrations) {
    files.set(secretFileOf(name), clientSecret);
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
