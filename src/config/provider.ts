import type { MetadataContext } from '../oauth/metadata.ts';
import { ownParameters, protocolParameters } from '../oauth/parameters.ts';
import { presets } from '../providers/presets.ts';
import type { Placeholder, Preset, Provider } from '../providers/provider.ts';
import { whyTaken } from '../urls.ts';
import { version } from '../version.ts';
import type { RegistrationReading } from './readings.ts';
import { options, type ValuesAt } from './settings/settings.ts';

/** A provider, or the issuer that describes it. */
export type ProviderSettings =
  | { readonly known: Provider }
  | { readonly discovered: Omit<MetadataContext, 'encodingChanges'> };

const endpoints = ['authorizeUrl', 'tokenUrl', 'userUrl'] as const;

/** Reads the provider of a registration, and checks what it was given. Undefined after a fault, if nothing is known. */
export function readProvider(reading: RegistrationReading): ProviderSettings | undefined {
  const provider = settingsOf(reading);
  const { values, describe, fault } = reading;
  for (const setting of [...endpoints, 'revocationUrl'] as const) {
    const message = whyTaken(values[setting], ownParameters[setting]);
    if (message) fault(setting, message);
  }
  const { authorizeUrl, tokenUrl } = protocolParameters;
  for (const [setting, taken] of [
    ['authorizeParams', authorizeUrl],
    ['tokenParams', tokenUrl],
  ] as const) {
    const [name] = values[setting]?.find(([one]) => taken.some((its) => its === one)) ?? [];
    if (name) fault(setting, `must not have ${name}: it is a parameter of the protocol`);
  }
  // Basic cannot carry such a client identifier. RFC 7617 §2
  if (values.tokenRequest === 'basic-raw' && values.clientId?.includes(':')) {
    fault('tokenRequest', `cannot be basic-raw: ${describe('clientId')} has a colon`);
  }
  warnOfTwoProviders(reading);
  return provider;
}

/** The preset that a registration has: the one it names, or the one of its issuer, which then knows more of it. */
export function presetOf({ provider, issuer }: ValuesAt<'providers'>): Preset | undefined {
  return presets.find((preset) => (issuer === undefined ? preset.name === provider : preset.issuer === issuer));
}

type Endpoints = Readonly<Partial<Record<(typeof endpoints)[number], string | undefined>>>;

const hostsOf = (given: Endpoints) => endpoints.flatMap((name) => URL.parse(given[name] ?? '')?.host ?? []);

/** What a preset knows of the answers at its hosts, if one has an endpoint at one of the hosts of these endpoints. */
function answersAt(given: Endpoints): Pick<Provider, 'access' | 'userRejectedWhen'> {
  const hosts = hostsOf(given);
  const preset = presets.find((one) => hostsOf(one).some((host) => hosts.includes(host)));
  return preset ? { access: preset.access, userRejectedWhen: preset.userRejectedWhen } : {};
}

/** Puts a provider together from a preset, an issuer and what the registration itself gives. Undefined after a fault. */
function settingsOf(reading: RegistrationReading): ProviderSettings | undefined {
  const { relay, values, sourceOf, describe, forbid } = reading;
  const { issuer } = values;
  const given = givenProvider(values);
  if (sourceOf('issuer') !== undefined) {
    forbid(options.issuer.excludes, `and ${describe('issuer')} are both given: give only one`);
    if (issuer === undefined) return undefined;
  }
  const preset = presetOf(values);
  if (preset === undefined) {
    if (issuer) return { discovered: { issuer, given, insecureHttp: relay.values.insecureHttp ?? false } };
    // A preset that is named but not known was reported.
    return sourceOf('provider') === undefined ? withoutPreset(reading, given) : undefined;
  }
  const filled = filledIn(preset, {
    host: placeholder('providerHost', preset.host, reading),
    tenant: placeholder('providerTenant', preset.tenant, reading),
    clientId: encodeURIComponent(values.clientId ?? ''),
    baseUrl: relay.baseUrl,
    version,
  });
  const isNamed = (sourceOf('provider') ?? sourceOf('issuer')) !== undefined;
  const provider = { ...filled, ...atOtherEndpoints(given, isNamed, issuer), ...given };
  warnOfSecretInUrl(preset, provider, reading);
  return { known: provider };
}

/** A provider of the file that gives its own endpoints. */
function withoutPreset(
  { values, fault }: RegistrationReading,
  { authorizeUrl, tokenUrl, userUrl, ...given }: Partial<Provider>,
): ProviderSettings | undefined {
  for (const name of endpoints) {
    if (values[name] === undefined) fault(name, 'is required beside the other endpoints');
  }
  if (!authorizeUrl || !tokenUrl || !userUrl) return undefined;
  const defaults = { clientAuthentication: 'body', pkce: true } as const;
  const answers = answersAt({ authorizeUrl, tokenUrl, userUrl });
  return { known: { ...defaults, ...answers, ...given, authorizeUrl, tokenUrl, userUrl } };
}

/** What takes the place of what a preset knows of its own endpoints, if the registration gives other ones. */
function atOtherEndpoints(
  { authorizeUrl, tokenUrl, userUrl }: Partial<Provider>,
  isNamed: boolean,
  issuer: string | undefined,
): Partial<Provider> {
  // A preset that is named says who answers, also behind other URLs.
  const isOther = !isNamed && (authorizeUrl ?? userUrl) !== undefined;
  return {
    ...(isOther && {
      access: undefined,
      accountPrompt: undefined,
      ...answersAt({ authorizeUrl, tokenUrl, userUrl }),
    }),
    ...(authorizeUrl && { issuer, refreshRequest: undefined, logoutUrl: undefined }),
    // Never send the tokens and the secret of another provider to the preset's endpoints.
    ...(tokenUrl && { refreshTokens: undefined, revocation: undefined }),
  };
}

/** Warns if a client secret goes into the URL of an endpoint that is not the preset's: servers log URLs. */
function warnOfSecretInUrl(
  preset: Preset,
  { tokenUrl, clientAuthentication }: Provider,
  { values, warn }: RegistrationReading,
): void {
  if (clientAuthentication !== 'query' || values.tokenRequest !== undefined) return;
  if (new URL(tokenUrl).origin === new URL(preset.tokenUrl).origin) return;
  warn(
    'tokenRequest',
    'is query by default, so the client secret is in the URL, which servers log. Set body or basic if the provider accepts one of them, otherwise query',
  );
}

/** What fills a placeholder of a preset's URLs. Reports one that is given in vain, or missing. */
function placeholder(
  option: 'providerHost' | 'providerTenant',
  declared: Placeholder | undefined,
  { values, sourceOf, fault }: RegistrationReading,
): string {
  const isGiven = sourceOf(option) !== undefined;
  if (declared === undefined && isGiven) fault(option, 'does not apply to this provider');
  if (declared !== undefined && declared.default === undefined && !isGiven) {
    fault(option, `is required with this provider: ${declared.meaning}`);
  }
  return values[option] ?? declared?.default ?? '';
}

/** The provider of a preset, with every `{part}` of its URLs and headers filled in. */
function filledIn(preset: Preset, parts: Readonly<Record<string, string>>): Provider {
  // These are of a preset only.
  const { name: _, title: __, documentation: ___, host: ____, tenant: _____, ...rest } = preset;
  const { authorizeUrl, tokenUrl, userUrl, logoutUrl, revocation, requestHeaders } = rest;
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_match, part) => parts[part] ?? '');
  const headers = Object.entries(requestHeaders ?? {}).map(([name, text]) => [name, fill(text)]);
  return {
    ...rest,
    authorizeUrl: fill(authorizeUrl),
    tokenUrl: fill(tokenUrl),
    userUrl: fill(userUrl),
    ...(logoutUrl && { logoutUrl: fill(logoutUrl) }),
    ...(revocation && { revocation: { ...revocation, url: fill(revocation.url) } }),
    ...(requestHeaders && { requestHeaders: Object.fromEntries(headers) }),
  };
}

/** What the settings of a registration say of its provider. */
function givenProvider(values: ValuesAt<'providers'>): Partial<Provider> {
  const { revocationUrl: url } = values;
  const given = {
    authorizeUrl: values.authorizeUrl?.href,
    tokenUrl: values.tokenUrl?.href,
    userUrl: values.userUrl?.href,
    scope: values.scope,
    clientAuthentication: values.tokenRequest,
    pkce: values.pkce,
    authorizeParameters: values.authorizeParams,
    tokenParameters: values.tokenParams,
    revocation: url && ({ url: url.href, request: 'rfc7009' } as const),
  };
  // What is not given must not hide what the preset or the metadata has.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The texts that would give a provider without preset and issuer, by the names of their settings. */
export function providerValues(provider: Provider) {
  const { authorizeUrl, tokenUrl, userUrl, scope, clientAuthentication: tokenRequest } = provider;
  const [revocationUrl, pkce] = [provider.revocation?.url, provider.pkce ? 'on' : 'off'];
  return { authorizeUrl, tokenUrl, userUrl, scope, revocationUrl, tokenRequest, pkce };
}

/** Warns if only some endpoints are configured: the secret or a token would go to the provider of the default preset. */
function warnOfTwoProviders({ values, sourceOf, describe, warn }: RegistrationReading): void {
  if (sourceOf('provider') ?? sourceOf('issuer')) return;
  const byDefault = endpoints.filter((name) => values[name] === undefined);
  if (byDefault.length === endpoints.length && values.revocationUrl === undefined) return;
  for (const name of byDefault) {
    warn(
      name,
      `is that of ${values.provider} by default, but other endpoints are configured: set it too, or set ${describe('provider')} explicitly`,
    );
  }
}
