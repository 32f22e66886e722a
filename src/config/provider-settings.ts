import type { MetadataContext } from '../oauth/metadata.ts';
import type { Provider } from '../providers/provider.ts';
import type { ValuesAt } from './settings/settings.ts';

/** A provider, or the issuer that describes it. */
export type ProviderSettings =
  | {
      readonly known: Provider;
      /** The issuer to ask if an endpoint is missing. */
      readonly issuer?: string;
    }
  | { readonly discovered: Omit<MetadataContext, 'clientId' | 'encodingChanges'> };

/** The part of a provider that a registration sets itself. */
export function givenProvider(values: ValuesAt<'providers'>): Partial<Provider> {
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
  // A missing setting must not hide what the preset or the metadata has.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The texts that describe a provider without preset and issuer, by the names of their settings. */
export function providerValues(provider: Provider) {
  const { authorizeUrl, tokenUrl, refreshUrl, userUrl, userRequest, scope, tokenRequest, tokenAnswer } = provider;
  const { logoutUrl } = provider;
  const quoted = (separator: string | undefined) => separator && `'${separator}'`;
  const scopeSeparator = quoted(provider.scopeSeparator);
  const answerScopeSeparator = quoted(provider.answerScopeSeparator);
  const revocationUrl = provider.revocation?.url;
  const pkce = provider.pkce ? 'on' : 'off';
  const endpointTexts = { authorizeUrl, tokenUrl, refreshUrl, userUrl, userRequest, revocationUrl, logoutUrl };
  return { ...endpointTexts, scope, scopeSeparator, answerScopeSeparator, tokenRequest, tokenAnswer, pkce };
}
