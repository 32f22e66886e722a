import { originPattern } from '../../origins/schemas.ts';
import { httpUrl, providerUrl } from '../../urls.ts';
import * as schemas from '../schemas.ts';
import { fileRowsOf, group, rowsOf } from './setting.ts';

const relay = rowsOf('relay');
const provider = rowsOf('providers');
const frontEnd = rowsOf('front-ends');
const frontEndInFile = fileRowsOf('front-ends');
const { filePath, oneOf, parameters } = schemas;
const presets = "the preset's or the issuer's";

export const requiredRows = group('Required', {
  origin: frontEnd('--origin <origin>', 'FRONTEND_ORIGIN', {
    schema: originPattern,
    help: 'origin of the front end, such as https://app.example.com; with a * for one label (https://*.preview.example.com) or for any port (http://localhost:*)',
    otherwise: 'required',
  }),
  clientId: provider('--client-id <id>', 'PROVIDER_CLIENT_ID', {
    schema: schemas.visibleCharacters,
    help: 'client identifier registered at the provider',
    otherwise: 'required',
  }),
  clientSecretFile: provider('--client-secret-file <path>', 'PROVIDER_CLIENT_SECRET_FILE', {
    schema: filePath,
    help: 'file that holds the client secret',
    otherwise: 'required, except with the systemd credential provider-client-secret',
    inFile: { otherwise: 'required, except with the systemd credential <name>-client-secret' },
    secret: true,
  }),
  clientSecret: provider('--client-secret <secret>', 'PROVIDER_CLIENT_SECRET', {
    schema: schemas.visibleCharacters,
    help: 'the client secret itself; a file is safer',
    otherwise: 'required without a file',
    secret: true,
  }),
});

export const frontEndRows = group('Front end', {
  frontendUrl: frontEnd('--frontend-url <url>', 'FRONTEND_URL', {
    schema: httpUrl,
    help: 'page that receives the token; it must be inside the origin',
    otherwise: 'the origin; /admin/ there with --token-delivery cms',
  }),
  redirectUri: frontEnd('--redirect-uri <url>', 'FRONTEND_REDIRECT_URI', {
    schema: schemas.redirectUris,
    help: 'page inside the origin that an OAuth login may return to; repeat the flag for several, or put spaces between them in the variable',
    otherwise: 'the front end URL',
    inFile: {
      help: 'pages inside the origin that OAuth logins may return to',
      otherwise: 'the front end URL',
    },
    repeatable: true,
  }),
  tokenDelivery: frontEnd('--token-delivery <how>', 'TOKEN_DELIVERY', {
    schema: oneOf(['query', 'fragment', 'code', 'session', 'cms']),
    help: 'how the front end gets the token: query or fragment (in the front end URL), code (by OAuth with PKCE only), session (not at all: a cookie of the relay holds it), or cms (in the popup of Decap CMS or Sveltia CMS)',
    default: 'query',
  }),
  errorDelivery: frontEnd('--error-delivery <how>', 'ERROR_DELIVERY', {
    schema: oneOf(['json', 'page', 'redirect']),
    help: 'how failures are answered: json; page (a page for people, JSON for programs); or redirect (a failed login goes to the front end with error, error_description and request_id)',
    otherwise: 'json; redirect with --token-delivery session',
  }),
  refreshTokens: relay('--refresh-tokens <kind>', 'REFRESH_TOKENS', {
    schema: oneOf(['bound', 'bearer', 'off']),
    help: 'refresh tokens for OAuth logins: bound (only to pages that prove a key with DPoP), bearer (to all pages) or off',
    default: 'bound',
  }),
  refreshLifetime: relay('--refresh-lifetime <days>', 'REFRESH_LIFETIME', {
    schema: schemas.wholeNumberOf('days', 1, 3650),
    help: 'days after which a login can no longer be refreshed',
    default: '30',
  }),
  sessionLifetime: relay('--session-lifetime <days>', 'SESSION_LIFETIME', {
    schema: schemas.wholeNumberOf('days', 1, 400),
    help: 'days after which a session ends, however often it is refreshed',
    default: '7',
  }),
  sessionIdle: relay('--session-idle <hours>', 'SESSION_IDLE', {
    schema: schemas.wholeNumberOf('hours', 1, 9600),
    help: 'hours after which a session ends if it is not refreshed',
    default: '24',
  }),
});

/** What a file can give a front end besides. */
export const frontEndFileRows = {
  providers: frontEndInFile('providers <names>', {
    schema: schemas.names,
    help: 'names of the providers that the front end may use',
    otherwise: 'all',
    repeatable: true,
    unquoted: true,
  }),
  frontEndScope: frontEndInFile('scope <scopes>', {
    schema: schemas.scope,
    help: 'scopes that the front end may request, and gets if it requests none',
    otherwise: "the provider's",
    separator: ' ',
  }),
};

export const providerRows = group('Provider', {
  provider: provider('--provider <name>', 'PROVIDER', {
    schema: schemas.presetName,
    help: 'provider preset; login-relay providers lists them',
    default: 'github',
    inFile: { otherwise: 'the preset that has the name of the entry, else github' },
  }),
  providerHost: provider('--provider-host <host>', 'PROVIDER_HOST', {
    schema: schemas.providerHost,
    help: 'host of your provider, for presets that need one',
    otherwise: "the preset's",
  }),
  providerTenant: provider('--provider-tenant <name>', 'PROVIDER_TENANT', {
    schema: schemas.tenant,
    help: 'tenant or realm, for presets that need one',
    otherwise: "the preset's",
  }),
  issuer: provider('--issuer <url>', 'PROVIDER_ISSUER', {
    schema: schemas.issuer,
    help: 'issuer of any other provider; the endpoints come from its OpenID Connect or OAuth metadata',
    otherwise: 'none',
  }),
  authorizeUrl: provider('--authorize-url <url>', 'PROVIDER_AUTHORIZE_URL', {
    schema: providerUrl,
    help: 'authorization endpoint',
    otherwise: presets,
  }),
  tokenUrl: provider('--token-url <url>', 'PROVIDER_TOKEN_URL', {
    schema: providerUrl,
    help: 'token endpoint',
    otherwise: presets,
  }),
  userUrl: provider('--user-url <url>', 'PROVIDER_USER_URL', {
    schema: providerUrl,
    help: 'user lookup endpoint',
    otherwise: presets,
  }),
  revocationUrl: provider('--revocation-url <url>', 'PROVIDER_REVOCATION_URL', {
    schema: providerUrl,
    help: 'revocation endpoint (RFC 7009)',
    otherwise: `${presets}, if they have one`,
  }),
  scope: provider('--scope <scopes>', 'PROVIDER_SCOPE', {
    schema: schemas.scope,
    help: 'space-separated scopes to request',
    separator: ' ',
    otherwise: "the preset's; openid with an issuer that speaks OpenID Connect",
  }),
  tokenRequest: provider('--token-request <how>', 'PROVIDER_TOKEN_REQUEST', {
    schema: oneOf(['query', 'body', 'basic', 'basic-raw']),
    help: 'how the token request carries the client secret: query, body (client_secret_post), basic (client_secret_basic) or basic-raw (the same without form-encoding)',
    otherwise: presets,
  }),
  pkce: provider('--pkce <how>', 'PROVIDER_PKCE', {
    schema: schemas.onOrOff,
    help: 'PKCE in logins with a state: on or off; off is for a provider that refuses it',
    otherwise: "the preset's; on with an issuer",
  }),
  authorizeParams: provider('--authorize-params <query>', 'PROVIDER_AUTHORIZE_PARAMS', {
    schema: parameters,
    help: 'further parameters of the authorization request, as in a URL: prompt=login&audience=api',
    otherwise: 'none',
  }),
  tokenParams: provider('--token-params <query>', 'PROVIDER_TOKEN_PARAMS', {
    schema: parameters,
    help: 'further parameters of the token request, as in a URL',
    otherwise: 'none',
    secret: true,
  }),
  providerTimeout: relay('--provider-timeout <seconds>', 'PROVIDER_TIMEOUT', {
    schema: schemas.seconds(0.1, 300),
    help: 'maximum time for one call to the provider',
    default: '10',
  }),
  pathName: provider('--path-name <word>', 'PROVIDER_PATH_NAME', {
    schema: schemas.pathSegment,
    help: 'the word in /auth/<word> and /auth/<word>/callback',
    default: 'provider',
    inFile: null,
  }),
});

export const protectionRows = group('Login protection', {
  stateCheck: provider('--state-check <who>', 'STATE_CHECK', {
    schema: oneOf(['browsers', 'always', 'off']),
    help: 'which callbacks must carry a state: browsers (those of browsers), always (all) or off (none: the bare protocol)',
    otherwise: 'browsers; always with --token-delivery code, session or cms',
    inFile: {
      otherwise:
        'browsers; always if a front end of the provider has the token delivery code, session or cms',
    },
  }),
  keyFile: relay('--key-file <path>', 'KEY_FILE', {
    schema: filePath,
    help: 'file with the secret (32 or more characters) that all keys are derived from; a second line may hold the previous secret; created if it does not exist',
    otherwise:
      'the systemd credential key, else the file key in the systemd state directory, else derived from the client secret',
    secret: true,
  }),
});
