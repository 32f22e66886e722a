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

/** The configuration of the login that is checked. The checks name settings with `describe`. */
export interface CheckContext extends Naming {
  readonly config: Config;
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
  readonly client: UpstreamClient;
}

/** A context whose provider is known or was discovered. */
export interface ProviderContext extends CheckContext {
  readonly provider: Provider;
}

/** Stands for the settings of a front end if there is none, because only browsers at resources log in. */
const noFrontEnd = { map: { level: 'front-ends', prefix: '', values: {}, positions: {}, inside: {} } } as const;

/**
 * Creates functions that name the settings of one login for people, each in the entry of its registration or front end.
 * With flags, there is only one of each.
 */
export function createNaming({ relay, registrations, frontEnds }: Readings, registration: string, frontEnd: string) {
  const owners = {
    relay,
    providers: registrations.find(({ name }) => name === registration) ?? registrations[0],
    'front-ends': frontEnds.find(({ name }) => name === frontEnd) ?? frontEnds[0] ?? noFrontEnd,
  };
  const findMapWith = (name: OptionName): SettingsMap => owners[options[name].level].map;
  return {
    /** Whether a flag, a variable or the file sets a setting; undefined if nothing does. */
    sourceOf: (name: OptionName) => sourceOf(findMapWith(name), name),
    describe: (name: OptionName) => describeForAdvice(findMapWith(name), name),
    /** Names a setting of the provider. Some of these settings are only possible in a file. */
    describeOfProvider(name: ProviderSetting): string {
      const { map } = owners.providers;
      const needsFile = map.path === undefined && !(name in options);
      return `${describeForAdvice(map, name)}${needsFile ? ' (in a configuration file)' : ''}`;
    },
  };
}

/** Creates the client for the calls of all checks. The caller has to close it. */
export function createCheckClient({ providerTimeout: timeout, proxy }: Config): UpstreamClient {
  // Checks never reach this number of calls, although each redirect URI needs a call.
  return createUpstreamClient({ timeout, concurrentCalls: 10_000, proxy });
}

/** A code, token or secret that no provider has issued. */
export const madeUp = 'login-relay-check';

/** A PKCE verifier needs 43 characters. @see RFC 7636 §4.1 */
export const madeUpVerifier = madeUp.padEnd(43, '-');

/** Says what to change if the address of an endpoint is wrong: its own setting, or the settings that it derives from. */
export function adviseOnUrl({ sourceOf, describe }: Naming, name: RequiredEndpoint): string {
  if (sourceOf(name) !== undefined) return `correct ${describe(name)}`;
  const sources = ['issuer', 'providerHost', 'providerTenant'] as const;
  const given = sources.filter((option) => sourceOf(option) !== undefined);
  const derivedFrom = given.length > 0 ? given.map(describe).join(' or ') : describe('provider');
  return `correct ${derivedFrom}, or give ${describe(name)}`;
}
