import { readDescribedProvider } from '../oauth/described-provider.ts';
import type { MetadataContext } from '../oauth/metadata.ts';
import { ownParameters, protocolParameters } from '../oauth/parameters.ts';
import { presets } from '../providers/presets.ts';
import type { Placeholder, Preset, Provider } from '../providers/provider.ts';
import { whyTaken } from '../urls.ts';
import { version } from '../version.ts';
import { addPersonSettings } from './person.ts';
import { givenProvider, type ProviderSettings } from './provider-settings.ts';
import type { RegistrationReading } from './readings.ts';
import { options, type ValuesAt } from './settings/settings.ts';

const endpoints = ['authorizeUrl', 'tokenUrl', 'userUrl'] as const;

/** Logins work without these endpoints. */
const otherEndpoints = ['refreshUrl', 'revocationUrl'] as const;

/** Reads and checks the provider of a registration. Undefined after a fault, if nothing is known. */
export function readProvider(reading: RegistrationReading): ProviderSettings | undefined {
  const known = assembleProvider(reading);
  const provider = known && addPersonSettings(known, reading);
  const { values, describe, reportFault } = reading;
  for (const setting of [...endpoints, ...otherEndpoints]) {
    const message = whyTaken(values[setting], ownParameters[setting]);
    if (message) reportFault(setting, message);
  }
  reportProtocolParameters(reading);
  if (values.userBody !== undefined && values.userRequest !== 'post') {
    reportFault('userBody', `needs ${describe('userRequest')} post: a GET has no body`);
  }
  // Basic cannot carry such a client identifier. @see RFC 7617 §2
  if (values.tokenRequest === 'basic-raw' && values.clientId?.includes(':')) {
    reportFault('tokenRequest', `cannot be basic-raw: ${describe('clientId')} has a colon`);
  }
  warnOfTwoProviders(reading);
  return provider;
}

/**
 * Reports extra parameters that belong to the protocol. The client identifier is allowed, because some servers want it
 * twice.
 */
function reportProtocolParameters({ values, reportFault }: RegistrationReading): void {
  const { authorizeUrl, tokenUrl } = protocolParameters;
  for (const [setting, taken] of [
    ['authorizeParams', authorizeUrl],
    ['tokenParams', tokenUrl],
  ] as const) {
    for (const [name, value] of values[setting] ?? []) {
      const isOwnId = setting === 'tokenParams' && name === 'client_id' && value === values.clientId;
      if (isOwnId || taken.every((its) => its !== name)) continue;
      reportFault(setting, `must not have ${name}: it is a parameter of the protocol`);
      break;
    }
  }
}

/** The preset of a registration: the one it names, or the one of its issuer, which then supplies more. */
export function findPreset({ provider, issuer }: ValuesAt<'providers'>): Preset | undefined {
  return presets.find((preset) =>
    issuer === undefined ? preset.name === provider : preset.provider.issuer === issuer,
  );
}

type Endpoints = Readonly<Partial<Record<(typeof endpoints)[number], string | undefined>>>;

const hostsOf = (given: Endpoints) => endpoints.flatMap((name) => URL.parse(given[name] ?? '')?.host ?? []);

/** The access rules of the preset that shares a host with these endpoints. */
function presetAnswersAt(given: Endpoints): Partial<Provider> {
  const hosts = hostsOf(given);
  const known = presets.find(({ provider }) => hostsOf(provider).some((host) => hosts.includes(host)))?.provider;
  if (known === undefined) return {};
  const { access, lookupRefusals, userRejectedWhen, answerScopeSeparator, tokenAnswer } = known;
  return { access, lookupRefusals, userRejectedWhen, answerScopeSeparator, tokenAnswer };
}

/** Assembles a provider from a preset, an issuer, and the registration's own settings. Undefined after a fault. */
function assembleProvider(reading: RegistrationReading): ProviderSettings | undefined {
  const { relay, values, sourceOf, describe, forbid } = reading;
  const { issuer, metadataUrl } = values;
  const given = givenProvider(values);
  if (sourceOf('issuer') !== undefined) {
    forbid(options.issuer.excludes, `and ${describe('issuer')} are both given: give only one`);
    if (issuer === undefined) return undefined;
  }
  const preset = findPreset(values);
  if (preset === undefined) {
    if (issuer)
      return assembleFromIssuer({ issuer, ...(metadataUrl && { metadataUrl: metadataUrl.href }), given }, reading);
    forbid(['metadataUrl'], `needs ${describe('issuer')}, which the metadata must name`);
    // An unknown preset was reported already.
    return sourceOf('provider') === undefined ? assembleWithoutPreset(reading, given) : undefined;
  }
  const why = issuer === undefined ? `: it needs ${describe('issuer')}` : `: the relay knows this issuer`;
  reading.warnOfUnused(['metadataUrl'], why);
  const filled = fillPlaceholders(preset.provider, {
    host: readPlaceholder('providerHost', preset.host, reading),
    tenant: readPlaceholder('providerTenant', preset.tenant, reading),
    clientId: encodeURIComponent(values.clientId ?? ''),
    baseUrl: relay.baseUrl,
    version,
  });
  const isNamed = (sourceOf('provider') ?? sourceOf('issuer')) !== undefined;
  const requestHeaders = { ...filled.requestHeaders, ...given.requestHeaders };
  const headers = Object.keys(requestHeaders).length > 0 ? { requestHeaders } : {};
  const provider = { ...filled, ...resetsAtOtherEndpoints(given, isNamed, issuer), ...given, ...headers };
  warnOfSecretInUrl(preset.provider, provider, reading);
  return { known: provider };
}

/** The provider of an issuer. If all its endpoints are given, nothing is left to discover. */
function assembleFromIssuer(
  { given, ...context }: Pick<MetadataContext, 'issuer' | 'metadataUrl' | 'given'>,
  { relay, values, warnOfUnused }: RegistrationReading,
): ProviderSettings {
  const { authorizeUrl, tokenUrl, userUrl, userFrom } = given;
  const insecureHttp = relay.values.insecureHttp ?? false;
  const isComplete = authorizeUrl && tokenUrl && (userUrl ?? userFrom);
  if (!isComplete) return { discovered: { ...context, given, insecureHttp } };
  warnOfUnused(['metadataUrl'], ': all endpoints are given');
  const answers = presetAnswersAt({ authorizeUrl, tokenUrl, userUrl });
  const rest = { clientId: values.clientId ?? '', encodingChanges: false, insecureHttp };
  const known = readDescribedProvider({}, 'openid', { ...context, ...rest, given: { ...answers, ...given } });
  return { known, issuer: context.issuer };
}

/** A provider of the file with endpoints of its own. */
function assembleWithoutPreset(
  { values, reportFault }: RegistrationReading,
  { authorizeUrl, tokenUrl, userUrl, ...given }: Partial<Provider>,
): ProviderSettings | undefined {
  for (const name of endpoints) {
    if (values[name] === undefined) reportFault(name, 'is required beside the other endpoints');
  }
  if (!authorizeUrl || !tokenUrl || !userUrl) return undefined;
  const defaults = { tokenRequest: 'body', pkce: true } as const;
  const answers = presetAnswersAt({ authorizeUrl, tokenUrl, userUrl });
  return { known: { ...defaults, ...answers, ...given, authorizeUrl, tokenUrl, userUrl } };
}

/** Preset facts that no longer hold once the registration overrides an endpoint, reset. */
function resetsAtOtherEndpoints(
  { authorizeUrl, tokenUrl, userUrl }: Partial<Provider>,
  isNamed: boolean,
  issuer: string | undefined,
): Partial<Provider> {
  // The operator who names a preset says who answers, even behind other URLs.
  const isOther = !isNamed && (authorizeUrl ?? userUrl) !== undefined;
  return {
    ...(isOther && {
      access: undefined,
      lookupRefusals: undefined,
      accountPrompt: undefined,
      ...presetAnswersAt({ authorizeUrl, tokenUrl, userUrl }),
    }),
    ...(authorizeUrl && { issuer, refreshRequest: undefined, logoutUrl: undefined }),
    // Never send the tokens and the secret of another provider to the preset's endpoints.
    ...(tokenUrl && { refreshUrl: undefined, refreshTokens: undefined, revocation: undefined }),
  };
}

/** Warns if a client secret goes into the URL of an endpoint that is not the preset's, because servers log URLs. */
function warnOfSecretInUrl(
  preset: Provider,
  { tokenUrl, tokenRequest }: Provider,
  { values, warn }: RegistrationReading,
): void {
  if (tokenRequest !== 'query' || values.tokenRequest !== undefined) return;
  if (new URL(tokenUrl).origin === new URL(preset.tokenUrl).origin) return;
  warn(
    'tokenRequest',
    'is query by default, so the client secret is in the URL, which servers log. Set body or basic if the provider accepts one of them, otherwise query',
  );
}

/** Reads the value of a placeholder in a preset's URLs. Reports a missing or needless one. */
function readPlaceholder(
  option: 'providerHost' | 'providerTenant',
  declared: Placeholder | undefined,
  { values, sourceOf, reportFault }: RegistrationReading,
): string {
  const isGiven = sourceOf(option) !== undefined;
  if (declared === undefined && isGiven) reportFault(option, 'does not apply to this provider');
  if (declared !== undefined && declared.default === undefined && !isGiven) {
    reportFault(option, `is required with this provider: ${declared.meaning}`);
  }
  return values[option] ?? declared?.default ?? '';
}

function fillPlaceholders(provider: Provider, parts: Readonly<Record<string, string>>): Provider {
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_match, part) => parts[part] ?? '');
  return JSON.parse(JSON.stringify(provider), (_key, value) => (typeof value === 'string' ? fill(value) : value));
}

/**
 * Warns if only some endpoints are configured, because the others belong to the default preset: the secret or a token
 * would go to the wrong provider.
 */
function warnOfTwoProviders({ values, sourceOf, describe, warn }: RegistrationReading): void {
  if (sourceOf('provider') ?? sourceOf('issuer')) return;
  const byDefault = endpoints.filter((name) => values[name] === undefined);
  const hasOther = otherEndpoints.some((name) => values[name] !== undefined);
  if (byDefault.length === endpoints.length && !hasOther) return;
  for (const name of byDefault) {
    warn(
      name,
      `is that of ${values.provider} by default, but other endpoints are configured: set it too, or set ${describe('provider')} explicitly`,
    );
  }
}
