import type { MetadataContext } from '../oauth/metadata.ts';
import { ownParameters, protocolParameters } from '../oauth/protocol-parameters.ts';
import { readDescribedProvider } from '../oauth/provider-from-metadata.ts';
import { presets } from '../providers/presets.ts';
import type { Placeholder, Preset, Provider } from '../providers/provider.ts';
import { whyQueryIsTaken } from '../urls.ts';
import { version } from '../version.ts';
import { addPersonSettings } from './person-settings.ts';
import { type ProviderSettings, providerFromSettings } from './provider-settings.ts';
import type { RegistrationReading } from './readings.ts';
import { options, type ValuesAt } from './settings/settings.ts';

/** The settings with the endpoints that every login needs. */
const endpoints = ['authorizeUrl', 'tokenUrl', 'userUrl'] as const;

/** The settings with endpoints that a provider may lack. */
const optionalEndpoints = ['refreshUrl', 'revocationUrl'] as const;

/**
 * The name of a provider for people: its `title`, else the title of its preset, unless another registration has the same
 * preset, else the name of the registration.
 */
export function titleOf({ name, values }: RegistrationReading, all: readonly RegistrationReading[]): string {
  if (values.title !== undefined) return values.title;
  const preset = findPreset(values);
  const withSamePreset = all.filter((registration) => findPreset(registration.values) === preset);
  return preset !== undefined && withSamePreset.length === 1 ? preset.title : name;
}

/** Reads and checks the provider of a registration; undefined if a fault leaves nothing to log in with. */
export function readProvider(reading: RegistrationReading): ProviderSettings | undefined {
  const assembled = assembleProvider(reading);
  const provider = assembled && addPersonSettings(assembled, reading);
  const { values, describe, reportFault } = reading;
  for (const setting of [...endpoints, ...optionalEndpoints]) {
    const message = whyQueryIsTaken(values[setting], ownParameters[setting]);
    if (message) reportFault(setting, message);
  }
  reportProtocolParameters(reading);
  if (values.userBody !== undefined && values.userRequest !== 'post') {
    reportFault('userBody', `needs ${describe('userRequest')} post: a GET has no body`);
  }
  // In Basic, the first colon ends the client identifier. @see RFC 7617 §2
  if (values.tokenRequest === 'basic-raw' && values.clientId?.includes(':')) {
    reportFault('tokenRequest', `cannot be basic-raw: ${describe('clientId')} has a colon`);
  }
  warnOfTwoProviders(reading);
  return provider;
}

/** Reports configured parameters that would replace a parameter of the protocol, such as `redirect_uri`. */
function reportProtocolParameters({ values, reportFault }: RegistrationReading): void {
  const names = (parameters: readonly (readonly [string, string])[] = []) => parameters.map(([name]) => name);
  const why = (name: string) => `must not have ${name}: it is a parameter of the protocol`;
  const inAuthorization = names(values.authorizeParams).find(isIn(protocolParameters.authorizeUrl));
  if (inAuthorization) reportFault('authorizeParams', why(inAuthorization));
  // Some servers want the client identifier in the body as well as in Basic.
  const furtherTokenParams = values.tokenParams?.filter(
    ([name, value]) => name !== 'client_id' || value !== values.clientId,
  );
  const inToken = names(furtherTokenParams).find(isIn(protocolParameters.tokenUrl));
  if (inToken) reportFault('tokenParams', why(inToken));
}

const isIn = (list: readonly string[]) => (name: string) => list.includes(name);

/** Finds the preset that a registration names, or whose issuer it names. */
export function findPreset({ provider, issuer }: ValuesAt<'providers'>): Preset | undefined {
  return presets.find((preset) =>
    issuer === undefined ? preset.name === provider : preset.provider.issuer === issuer,
  );
}

type Endpoints = Readonly<Partial<Record<(typeof endpoints)[number], string | undefined>>>;

const hostsOf = (given: Endpoints) => endpoints.flatMap((name) => URL.parse(given[name] ?? '')?.host ?? []);

/** What a preset says about the answers of its server, if one of these endpoints is at that server; otherwise nothing. */
function answersOfPresetAt(given: Endpoints): Partial<Provider> {
  const hosts = hostsOf(given);
  const preset = presets.find(({ provider }) => hostsOf(provider).some((host) => hosts.includes(host)));
  if (preset === undefined) return {};
  const { access, lookupRefusals, userRejectedWhen, answerScopeSeparator, tokenAnswer } = preset.provider;
  return { access, lookupRefusals, userRejectedWhen, answerScopeSeparator, tokenAnswer };
}

/** Assembles a provider from a preset or an issuer, and the settings of the registration; undefined after a fault. */
function assembleProvider(reading: RegistrationReading): ProviderSettings | undefined {
  const { values, isGiven, describe, forbid } = reading;
  const { issuer, metadataUrl } = values;
  const given = providerFromSettings(values);
  if (isGiven('issuer')) {
    forbid(options.issuer.excludes, `and ${describe('issuer')} are both given: give only one`);
    if (issuer === undefined) return undefined;
  }
  const preset = findPreset(values);
  if (preset !== undefined) return assembleFromPreset(preset, given, reading);
  if (issuer) {
    const metadata = metadataUrl ? { metadataUrl: metadataUrl.href } : {};
    return assembleFromIssuer({ issuer, ...metadata, given }, reading);
  }
  forbid(['metadataUrl'], `needs ${describe('issuer')}, which the metadata must name`);
  // A given provider has no preset if its name is unknown, which is reported already.
  return isGiven('provider') ? undefined : assembleWithoutPreset(reading, given);
}

/** Assembles the provider of a preset, with the settings of the registration in place of what the preset says. */
function assembleFromPreset(preset: Preset, given: Partial<Provider>, reading: RegistrationReading): ProviderSettings {
  const { relay, values, isGiven, describe, warnOfUnused } = reading;
  const { issuer } = values;
  const whyUnused = issuer === undefined ? `: it needs ${describe('issuer')}` : ': the relay knows this issuer';
  warnOfUnused(['metadataUrl'], whyUnused);
  const filled = fillPlaceholders(preset.provider, {
    host: readPlaceholder('providerHost', preset.host, reading),
    tenant: readPlaceholder('providerTenant', preset.tenant, reading),
    clientId: encodeURIComponent(values.clientId ?? ''),
    baseUrl: relay.baseUrl,
    version,
  });
  const isPresetNamed = isGiven('provider') || isGiven('issuer');
  const overridden = resetForOtherEndpoints(given, isPresetNamed, issuer);
  const requestHeaders = { ...filled.requestHeaders, ...given.requestHeaders };
  const headers = Object.keys(requestHeaders).length > 0 ? { requestHeaders } : {};
  const provider = { ...filled, ...overridden, ...given, ...headers };
  warnOfSecretInUrl(preset.provider, provider, reading);
  return { known: provider };
}

/** Assembles the provider of an issuer without a preset. If all endpoints are given, there is nothing to discover. */
function assembleFromIssuer(
  { given, ...context }: Pick<MetadataContext, 'issuer' | 'metadataUrl' | 'given'>,
  { relay, values, warnOfUnused }: RegistrationReading,
): ProviderSettings {
  const { authorizeUrl, tokenUrl, userUrl, userFrom } = given;
  const insecureHttp = relay.values.insecureHttp ?? false;
  const isComplete = authorizeUrl && tokenUrl && (userUrl ?? userFrom);
  if (!isComplete) return { discovered: { ...context, given, insecureHttp } };
  warnOfUnused(['metadataUrl'], ': all endpoints are given');
  const withAnswers = { ...answersOfPresetAt({ authorizeUrl, tokenUrl, userUrl }), ...given };
  // No metadata is fetched, so the standards alone say what holds, such as the scope `openid`. Without a list of methods,
  // the method is Basic, whether or not encoding changes the credentials.
  const client = { clientId: values.clientId ?? '', encodingChanges: false };
  const known = readDescribedProvider({}, 'openid', { ...context, ...client, insecureHttp, given: withAnswers });
  return { known, issuer: context.issuer };
}

/** Assembles a provider of the file that has neither preset nor issuer; undefined if an endpoint is missing. */
function assembleWithoutPreset(
  { values, reportFault }: RegistrationReading,
  { authorizeUrl, tokenUrl, userUrl, ...given }: Partial<Provider>,
): ProviderSettings | undefined {
  for (const name of endpoints) {
    if (values[name] === undefined) reportFault(name, 'is required beside the other endpoints');
  }
  if (!authorizeUrl || !tokenUrl || !userUrl) return undefined;
  const defaults = { tokenRequest: 'body', pkce: true } as const;
  const answers = answersOfPresetAt({ authorizeUrl, tokenUrl, userUrl });
  return { known: { ...defaults, ...answers, ...given, authorizeUrl, tokenUrl, userUrl } };
}

/**
 * Replaces or removes what a preset says about its own endpoints, if the registration has other endpoints. The result
 * overrides the preset. The settings of the registration override both.
 *
 * @param isPresetNamed whether the operator names the preset, which says who answers even behind other URLs
 */
function resetForOtherEndpoints(
  { authorizeUrl, tokenUrl, userUrl }: Partial<Provider>,
  isPresetNamed: boolean,
  issuer: string | undefined,
): Partial<Provider> {
  // With only another token endpoint, the preset's server still logs people in and describes them.
  const isOtherServer = !isPresetNamed && (authorizeUrl ?? userUrl) !== undefined;
  const noAnswers = { access: undefined, lookupRefusals: undefined, accountPrompt: undefined };
  const answers = isOtherServer ? { ...noAnswers, ...answersOfPresetAt({ authorizeUrl, tokenUrl, userUrl }) } : {};
  const loginFacts = authorizeUrl ? { issuer, refreshRequest: undefined, logoutUrl: undefined } : {};
  // The tokens and the secret of another provider must never go to the preset's endpoints.
  const tokenFacts = tokenUrl ? { refreshUrl: undefined, refreshTokens: undefined, revocation: undefined } : {};
  return { ...answers, ...loginFacts, ...tokenFacts };
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

/**
 * Reads what replaces `{host}` or `{tenant}` in the URLs of a preset. Reports a missing or needless value.
 *
 * @param declared undefined if the preset has no such placeholder
 */
function readPlaceholder(
  option: 'providerHost' | 'providerTenant',
  declared: Placeholder | undefined,
  { values, isGiven, reportFault }: RegistrationReading,
): string {
  if (declared === undefined) {
    if (isGiven(option)) reportFault(option, 'does not apply to this provider');
    return '';
  }
  if (declared.default === undefined && !isGiven(option)) {
    reportFault(option, `is required with this provider: ${declared.meaning}`);
  }
  return values[option] ?? declared.default ?? '';
}

/** Replaces placeholders such as `{host}` in all texts of a preset. */
function fillPlaceholders(provider: Provider, replacements: Readonly<Record<string, string>>): Provider {
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_match, name) => replacements[name] ?? '');
  return JSON.parse(JSON.stringify(provider), (_key, value) => (typeof value === 'string' ? fill(value) : value));
}

/**
 * Warns if only some endpoints are configured. The others are those of the default preset, so that the secret or a token
 * would go to the wrong provider.
 */
function warnOfTwoProviders({ values, isGiven, describe, warn }: RegistrationReading): void {
  if (isGiven('provider') || isGiven('issuer')) return;
  const isUnset = (name: (typeof endpoints | typeof optionalEndpoints)[number]) => values[name] === undefined;
  const byDefault = endpoints.filter(isUnset);
  if (byDefault.length === endpoints.length && optionalEndpoints.every(isUnset)) return;
  for (const name of byDefault) {
    warn(
      name,
      `is that of ${values.provider} by default, but other endpoints are configured: set it too, or set ${describe('provider')} explicitly`,
    );
  }
}
