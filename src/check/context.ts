import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { Readings } from '../config/readings.ts';
import { type OptionName, options, type ValuesAt } from '../config/settings/settings.ts';
import type { SettingsMap } from '../config/settings-map.ts';
import { describeForAdvice, sourceOf } from '../config/settings-map.ts';
import type { RequiredEndpoint } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';

type Naming = ReturnType<typeof createNaming>;

export type ProviderSetting = keyof ValuesAt<'providers'> & string;

/** What all checks of one login share. Advice names settings with `describe`. */
export interface CheckContext extends Naming {
  readonly config: Config;
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
  readonly client: UpstreamClient;
}

export interface ProviderContext extends CheckContext {
  readonly provider: Provider;
}

/** In place of the settings of a front end, where only resources that open to browsers log people in. */
const noFrontEnd = { map: { level: 'front-ends', prefix: '', values: {}, positions: {}, inside: {} } } as const;

/** Names the settings of one login for people. With flags, there is only one of each, without a name. */
export function createNaming({ relay, registrations, frontEnds }: Readings, registration: string, frontEnd: string) {
  const owners = {
    relay,
    providers: registrations.find(({ name }) => name === registration) ?? registrations[0],
    'front-ends': frontEnds.find(({ name }) => name === frontEnd) ?? frontEnds[0] ?? noFrontEnd,
  };
  const mapWith = (name: OptionName): SettingsMap => owners[options[name].level].map;
  return {
    /** What sets the setting. Undefined if its default applies. */
    sourceOf: (name: OptionName) => sourceOf(mapWith(name), name),
    describe: (name: OptionName) => describeForAdvice(mapWith(name), name),
    describeOfProvider(name: ProviderSetting): string {
      const { map } = owners.providers;
      const isOfFlags = map.path === undefined && !(name in options);
      return `${describeForAdvice(map, name)}${isOfFlags ? ' (in a configuration file)' : ''}`;
    },
  };
}

/** Creates the client for the calls of all checks. It has to be closed. */
export function createCheckClient({ providerTimeout: timeout, proxy }: Config): UpstreamClient {
  // More than all checks make at once. Each redirect URI needs one.
  return createUpstreamClient({ timeout, concurrentCalls: 10_000, proxy });
}

/** A code, token or secret that no provider has issued. */
export const madeUp = 'login-relay-check';

/** A PKCE verifier needs 43 characters. @see RFC 7636 §4.1 */
export const madeUpVerifier = madeUp.padEnd(43, '-');

/** What to change if the address of an endpoint is wrong: its own setting, or the settings that it derives from. */
export function fixUrl({ sourceOf, describe }: Naming, name: RequiredEndpoint): string {
  if (sourceOf(name) !== undefined) return `correct ${describe(name)}`;
  const given = (['issuer', 'providerHost', 'providerTenant'] as const).filter(
    (option) => sourceOf(option) !== undefined,
  );
  const settings = (given.length > 0 ? given : (['provider'] as const)).map(describe);
  return `correct ${settings.join(' or ')}, or give ${describe(name)}`;
}
