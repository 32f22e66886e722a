import * as v from 'valibot';
import { ownParameters, protocolParameters } from '../../oauth/parameters.ts';
import { presets } from '../../providers/presets.ts';
import { providerUrl } from '../../urls.ts';
import type { Option } from '../option.ts';
import { type ProviderSettings, readProviderSettings } from '../provider-settings.ts';
import { checked, type Reading, reportOwnParameters } from '../reading.ts';
import * as schemas from '../schemas.ts';
import { didYouMean, suggestion } from '../suggestion.ts';

const presetNames = presets.map(({ name }) => name);

/** The options of {@link ProviderSettings}, and of all calls to providers. */
export const providerOptions = {
  provider: {
    flag: '--provider',
    argument: '<name>',
    variable: 'PROVIDER',
    group: 'Provider',
    help: 'provider preset; login-relay providers lists them',
    default: 'github',
    schema: v.pipe(
      v.string(),
      v.check(
        (name) => presetNames.includes(name),
        ({ input }) =>
          `must be one that login-relay providers lists${didYouMean(suggestion(input, presetNames))}`,
      ),
    ),
  },
  providerHost: {
    flag: '--provider-host',
    argument: '<host>',
    variable: 'PROVIDER_HOST',
    group: 'Provider',
    help: 'host of your provider, for presets that need one',
    otherwise: "the preset's",
    schema: schemas.providerHost,
  },
  providerTenant: {
    flag: '--provider-tenant',
    argument: '<name>',
    variable: 'PROVIDER_TENANT',
    group: 'Provider',
    help: 'tenant or realm, for presets that need one',
    otherwise: "the preset's",
    schema: schemas.tenant,
  },
  issuer: {
    flag: '--issuer',
    argument: '<url>',
    variable: 'PROVIDER_ISSUER',
    group: 'Provider',
    help: 'issuer of any other provider; the endpoints come from its OpenID Connect or OAuth metadata',
    otherwise: 'none',
    schema: schemas.issuer,
  },
  authorizeUrl: {
    flag: '--authorize-url',
    argument: '<url>',
    variable: 'PROVIDER_AUTHORIZE_URL',
    group: 'Provider',
    help: 'authorization endpoint',
    otherwise: "the preset's or the issuer's",
    schema: providerUrl,
  },
  tokenUrl: {
    flag: '--token-url',
    argument: '<url>',
    variable: 'PROVIDER_TOKEN_URL',
    group: 'Provider',
    help: 'token endpoint',
    otherwise: "the preset's or the issuer's",
    schema: providerUrl,
  },
  userUrl: {
    flag: '--user-url',
    argument: '<url>',
    variable: 'PROVIDER_USER_URL',
    group: 'Provider',
    help: 'user lookup endpoint',
    otherwise: "the preset's or the issuer's",
    schema: providerUrl,
  },
  revocationUrl: {
    flag: '--revocation-url',
    argument: '<url>',
    variable: 'PROVIDER_REVOCATION_URL',
    group: 'Provider',
    help: 'revocation endpoint (RFC 7009)',
    otherwise: "the preset's or the issuer's, if they have one",
    schema: providerUrl,
  },
  scope: {
    flag: '--scope',
    argument: '<scopes>',
    variable: 'PROVIDER_SCOPE',
    group: 'Provider',
    help: 'space-separated scopes to request',
    otherwise: "the preset's; openid with an issuer that speaks OpenID Connect",
    schema: schemas.scope,
  },
  tokenRequest: {
    flag: '--token-request',
    argument: '<how>',
    variable: 'PROVIDER_TOKEN_REQUEST',
    group: 'Provider',
    help: 'how the token request carries the client secret: query, body (client_secret_post), basic (client_secret_basic) or basic-raw (the same without form-encoding)',
    otherwise: "the preset's or the issuer's",
    schema: schemas.oneOf(['query', 'body', 'basic', 'basic-raw']),
  },
  pkce: {
    flag: '--pkce',
    argument: '<how>',
    variable: 'PROVIDER_PKCE',
    group: 'Provider',
    help: 'PKCE in logins with a state: on or off; off is for a provider that refuses it',
    otherwise: "the preset's; on with an issuer",
    schema: schemas.onOrOff,
  },
  authorizeParams: {
    flag: '--authorize-params',
    argument: '<query>',
    variable: 'PROVIDER_AUTHORIZE_PARAMS',
    group: 'Provider',
    help: 'further parameters of the authorization request, as in a URL: prompt=login&audience=api',
    otherwise: 'none',
    schema: schemas.parameters,
  },
  tokenParams: {
    flag: '--token-params',
    argument: '<query>',
    variable: 'PROVIDER_TOKEN_PARAMS',
    group: 'Provider',
    help: 'further parameters of the token request, as in a URL',
    otherwise: 'none',
    secret: true,
    schema: schemas.parameters,
  },
  providerTimeout: {
    flag: '--provider-timeout',
    argument: '<seconds>',
    variable: 'PROVIDER_TIMEOUT',
    group: 'Provider',
    help: 'maximum time for one call to the provider',
    default: '10',
    schema: schemas.seconds(0.1, 300),
  },
} as const satisfies Record<string, Option>;

/** Reads the section. The result gives its values; call it only if no fault was reported. */
export function readProvider(reading: Reading, baseUrl: string): () => ProviderSettings {
  const provider = readProviderSettings(reading, baseUrl);
  for (const setting of ['authorizeUrl', 'tokenUrl', 'userUrl', 'revocationUrl'] as const) {
    reportOwnParameters(reading, setting, ownParameters[setting]);
  }
  reportProtocolParameters(reading);
  reportUnsendable(reading);
  warnOfTwoProviders(reading);
  return () => checked(provider);
}

/** Reports parameters that would change the meaning of the relay's own. */
function reportProtocolParameters({ values, fault }: Reading): void {
  const endpoints = { authorizeParams: 'authorizeUrl', tokenParams: 'tokenUrl' } as const;
  for (const setting of ['authorizeParams', 'tokenParams'] as const) {
    const names: readonly string[] = protocolParameters[endpoints[setting]];
    const taken = values[setting]?.find(([name]) => names.includes(name));
    if (taken) fault(setting, `must not have ${taken[0]}: it is a parameter of the protocol`);
  }
}

/** Reports a client identifier that Basic cannot carry. @see RFC 7617 §2 */
function reportUnsendable({ values, describe, fault }: Reading): void {
  if (values.tokenRequest !== 'basic-raw' || !values.clientId?.includes(':')) return;
  fault('tokenRequest', `cannot be basic-raw: ${describe('clientId')} has a colon`);
}

/** Warns if only some endpoints are configured: secret or token would go to the preset's provider. */
function warnOfTwoProviders({ values, sourceOf, describe, warn }: Reading): void {
  if (sourceOf('provider') ?? sourceOf('issuer')) return;
  const endpoints = ['authorizeUrl', 'tokenUrl', 'userUrl'] as const;
  const byDefault = endpoints.filter((name) => values[name] === undefined);
  if (byDefault.length === endpoints.length && values.revocationUrl === undefined) return;
  for (const name of byDefault) {
    warn(
      name,
      `is that of ${values.provider} by default, but other endpoints are configured: set it too, or set ${describe('provider')} explicitly`,
    );
  }
}
