import type { MetadataContext } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import type { ValuesAt } from './settings/settings.ts';

/** A provider that is known from the configuration, or an issuer whose metadata describe it. */
export type ProviderSettings =
  | {
      readonly known: Provider;
      /** The configured issuer, although all endpoints are configured as well. Otherwise, it is discovered. */
      readonly issuer?: string;
    }
  | { readonly discovered: Omit<MetadataContext, 'clientId' | 'encodingChanges'> };

/** The part of a provider that the configuration says. Metadata may add to it, but cannot change it. */
export const configuredProvider = (settings: ProviderSettings): Partial<Provider> =>
  'known' in settings ? settings.known : settings.discovered.given;

/** The part of a provider that a registration sets itself. It overrides a preset or metadata. */
export function providerFromSettings(values: ValuesAt<'providers'>): Partial<Provider> {
  const { logoutUrl, revocationUrl: url } = values;
  const given = {
    authorizeUrl: values.authorizeUrl?.href,
    tokenUrl: values.tokenUrl?.href,
    refreshUrl: values.refreshUrl?.href,
    userUrl: values.userUrl?.href,
    userFrom: values.userFrom === 'id-token' ? values.userFrom : undefined,
    userRequest: values.userRequest,
    userBody: values.userBody,
    scope: values.scope,
    scopeSeparator: values.scopeSeparator,
    answerScopeSeparator: values.answerScopeSeparator,
    tokenRequest: values.tokenRequest,
    tokenAnswer: values.tokenAnswer,
    tokenFields: values.tokenFields,
    callbackFields: values.callbackFields,
    pkce: values.pkce,
    authorizeParams: values.authorizeParams,
    tokenParams: values.tokenParams,
    requestHeaders: values.requestHeaders,
    revocation: url && ({ url: url.href, request: 'rfc7009' } as const),
    logoutUrl: logoutUrl === 'off' ? logoutUrl : logoutUrl?.href,
  };
  // An undefined value would override the preset or the metadata.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/**
 * The settings that would describe a provider in a file without preset and issuer, as YAML texts for a comment. Further
 * parameters, headers, and where the provider describes a person are left out.
 */
export function settingsFromProvider(provider: Provider) {
  const quoted = (separator: string | undefined) => separator && `'${separator}'`;
  return {
    authorizeUrl: provider.authorizeUrl,
    tokenUrl: provider.tokenUrl,
    refreshUrl: provider.refreshUrl,
    userUrl: provider.userUrl,
    userRequest: provider.userRequest,
    revocationUrl: provider.revocation?.url,
    logoutUrl: provider.logoutUrl,
    scope: provider.scope,
    scopeSeparator: quoted(provider.scopeSeparator),
    answerScopeSeparator: quoted(provider.answerScopeSeparator),
    tokenRequest: provider.tokenRequest,
    tokenAnswer: provider.tokenAnswer,
    pkce: provider.pkce ? 'on' : 'off',
  };
}
