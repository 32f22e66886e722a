import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { FileSettings } from '../config/file/entries.ts';
import { describeGiven, sourceOf } from '../config/given.ts';
import type { Readings } from '../config/readings.ts';
import { type OptionName, options, type ValuesAt } from '../config/settings/settings.ts';
import type { RequiredEndpoint } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';

export type ResourceConfig = Config['resources'][number];

type Naming = ReturnType<typeof createNaming>;

/** The settings of an entry of `providers`. */
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

/** Names the settings of one login for people. With flags alone there is only one of each, which has no name in a file. */
export function createNaming({ relay, registrations, frontEnds }: Readings, registration: string, frontEnd: string) {
  const owners = {
    relay,
    providers: registrations.find(({ name }) => name === registration) ?? registrations[0],
    'front-ends': frontEnds.find(({ name }) => name === frontEnd) ?? frontEnds[0],
  };
  const mapWith = (name: OptionName): FileSettings => owners[options[name].level].map;
  return {
    /** What sets the setting; undefined: its default applies. */
    sourceOf: (name: OptionName) => sourceOf(mapWith(name), name),
    describe: (name: OptionName) => describeGiven(mapWith(name), name),
    /** Names a setting of the provider, which may have no flag. */
    describeOfProvider(name: ProviderSetting): string {
      const { map } = owners.providers;
      const isOfFlags = map.path === undefined && !(name in options);
      return `${describeGiven(map, name)}${isOfFlags ? ' (in a configuration file)' : ''}`;
    },
  };
}

/** Creates the client that makes the calls of all checks. It has to be closed. */
export function createCheckClient({ providerTimeout: timeout, proxy }: Config): UpstreamClient {
  // More than all checks make at once: each redirect URI is one.
  return createUpstreamClient({ timeout, concurrentCalls: 10_000, proxy });
}

/** A code, token or secret that no provider has issued. */
export const madeUp = 'login-relay-check';

/** A PKCE verifier. RFC 7636 §4.1: at least 43 characters. */
export const madeUpVerifier = madeUp.padEnd(43, '-');

/** What to change if the address of an endpoint is wrong: its own setting, else the settings that it is derived from. */
export function fixUrl({ sourceOf, describe }: Naming, name: RequiredEndpoint): string {
  if (sourceOf(name) !== undefined) return `correct ${describe(name)}`;
  const given = (['issuer', 'providerHost', 'providerTenant'] as const).filter(
    (option) => sourceOf(option) !== undefined,
  );
  const settings = (given.length > 0 ? given : (['provider'] as const)).map(describe);
  return `correct ${settings.join(' or ')}, or give ${describe(name)}`;
}
