import * as v from 'valibot';
import { reservedFields } from '../../oauth/extra-fields.ts';
import { presets } from '../../providers/presets.ts';
import { providerUrl } from '../../urls.ts';
import { didYouMean, findSuggestion } from '../fault.ts';
import * as schemas from '../schemas.ts';
import { addGroup, createFileRowMaker, createRowMaker } from './setting.ts';

const relay = createRowMaker('relay');
const provider = createRowMaker('providers');
const preset = createRowMaker('providers', { excludes: ['issuer'] });
const address = createRowMaker('providers', { isAddress: true });
const { filePath: path, oneOf, parameters, visibleCharacters } = schemas;
const tokenRequests = oneOf(['query', 'body', 'basic', 'basic-raw', 'json']);
const timeout = schemas.seconds(0.1, 300);
const byPreset = "the preset's or the issuer's";

/** @see RFC 8414 §2 */
const issuer = schemas.toTheLetter(schemas.withoutQuery(providerUrl));

/** The URL of a page, or `off`. */
const logoutUrl = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    if (dataset.value === 'off') return 'off' as const;
    const url = v.safeParse(providerUrl, dataset.value, { abortPipeEarly: true });
    if (url.success) return url.output;
    addIssue({ message: url.issues[0].message });
    return NEVER;
  }),
);

/** The separator between the words of a scope. It may be `+`, which forms use for a space. */
const separator = schemas.textMatching(/^[ -~]$/, 'must be one character, such as a comma');
const scopeSeparator = v.pipe(
  separator,
  v.regex(/[^\w"\\+%&=#?]/, 'must be a character that no scope has, such as a comma'),
);

const field = schemas.textOrNumber(/^[^\p{C}]{1,128}$/u, 'must be the name of a field');

const json = v.pipe(
  v.string(),
  v.maxLength(4096, 'must have at most 4096 characters'),
  v.check(isJson, 'must be JSON, in quotes: it is sent as application/json'),
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The host of a provider, with an optional port and path. */
const providerHost = v.pipe(
  schemas.textMatching(
    /^[A-Za-z0-9.-]+(:\d{1,5})?(\/[A-Za-z0-9._~-]+)*$/,
    'must be a host name, without https:// and without a slash at its end',
  ),
  v.check(
    (host) => v.is(providerUrl, `https://${host}`),
    'must be the name of a host, not a link-local or metadata address',
  ),
);

const tenant = schemas.textOrNumber(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
  'must be letters, digits, dots, hyphens or underscores',
);

/** A path that browsers and proxies do not change. The provider compares it to the letter, including a final slash. */
const callbackPath = v.pipe(
  schemas.textMatching(
    /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+\/?$/,
    'must be a path that begins with a slash, such as /oauth2/callback, of letters, digits, hyphens, underscores, dots and tildes',
  ),
  v.maxLength(256, 'must have at most 256 characters'),
);

const fieldNames = v.pipe(
  v.string(),
  v.transform((given) => given.split(' ')),
  v.array(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9_.~-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens, underscores, dots or tildes'),
      v.check((name) => !reservedFields.includes(name), 'must not name a field of OAuth or of the relay'),
    ),
  ),
  v.check((names) => new Set(names).size === names.length, 'must not name a field twice'),
  v.maxLength(4, 'must not name more than 4 fields'),
);

const presetNames = presets.map(({ name }) => name);

const presetName = v.pipe(
  v.picklist(presetNames, ({ input }) => {
    const close = findSuggestion(`${input}`, presetNames);
    return `must be one that login-relay providers lists${didYouMean(close)}`;
  }),
  schemas.typed({ enum: presetNames }),
);

export const requiredProviderRows = addGroup('Required', {
  clientId: provider('--client-id <id>', 'PROVIDER_CLIENT_ID', visibleCharacters, {
    helpPosition: 2,
    help: 'client identifier registered at the provider',
    otherwise: 'required',
  }),
  clientSecretFile: provider('--client-secret-file <path>', 'PROVIDER_CLIENT_SECRET_FILE', path, {
    helpPosition: 3,
    excludes: ['clientSecret'],
    help: 'file that holds the client secret',
    otherwise: 'required, except with the systemd credential provider-client-secret',
    inFile: { otherwise: 'required, except with the systemd credential <name>-client-secret' },
    secret: true,
  }),
  clientSecret: provider('--client-secret <secret>', 'PROVIDER_CLIENT_SECRET', visibleCharacters, {
    excludes: ['clientSecretFile'],
    help: 'the client secret itself; a file is safer',
    otherwise: 'required without a file',
    secret: true,
  }),
});

export const providerRows = addGroup('Provider', {
  provider: preset('--provider <name>', 'PROVIDER', presetName, {
    helpPosition: 9,
    help: 'provider preset; see login-relay providers',
    default: 'github',
    inFile: {
      otherwise: 'none with endpoints of its own, else the preset that has the name of the entry, else github',
    },
  }),
  providerHost: preset('--provider-host <host>', 'PROVIDER_HOST', providerHost, {
    help: 'host of your provider, for presets that need one',
    otherwise: "the preset's",
  }),
  providerTenant: preset('--provider-tenant <name>', 'PROVIDER_TENANT', tenant, {
    help: 'tenant or realm, for presets that need one',
    otherwise: "the preset's",
  }),
  issuer: address('--issuer <url>', 'PROVIDER_ISSUER', issuer, {
    helpPosition: 10,
    excludes: ['provider', 'providerHost', 'providerTenant'],
    help: 'issuer of any other provider; the endpoints come from its OpenID Connect or OAuth metadata',
  }),
  metadataUrl: address('--metadata-url <url>', 'PROVIDER_METADATA_URL', providerUrl, {
    help: 'URL of the metadata, if it is not where the issuer implies; the metadata must name the issuer',
    otherwise: "the issuer's",
  }),
  authorizeUrl: address('--authorize-url <url>', 'PROVIDER_AUTHORIZE_URL', providerUrl, {
    help: 'authorization endpoint',
    otherwise: byPreset,
  }),
  tokenUrl: address('--token-url <url>', 'PROVIDER_TOKEN_URL', providerUrl, {
    help: 'token endpoint',
    otherwise: byPreset,
  }),
  refreshUrl: address('--refresh-url <url>', 'PROVIDER_REFRESH_URL', providerUrl, {
    help: 'where to send refresh tokens (with the client secret), if not to the token endpoint',
    otherwise: 'the token endpoint',
  }),
  userUrl: address('--user-url <url>', 'PROVIDER_USER_URL', providerUrl, {
    help: 'user lookup endpoint',
    otherwise: byPreset,
  }),
  userRequest: provider('--user-request <method>', 'PROVIDER_USER_REQUEST', oneOf(['get', 'post']), {
    help: 'method of the user lookup: get or post',
    otherwise: 'get',
  }),
  userBody: provider('--user-body <json>', 'PROVIDER_USER_BODY', json, {
    help: "JSON that the user lookup sends, such as 'null'; needs the user request post",
    isFreeText: true,
  }),
  revocationUrl: address('--revocation-url <url>', 'PROVIDER_REVOCATION_URL', providerUrl, {
    help: 'revocation endpoint (RFC 7009)',
    otherwise: `${byPreset}, if they have one`,
  }),
  logoutUrl: address('--logout-url <url>', 'PROVIDER_LOGOUT_URL', logoutUrl, {
    help: 'page that logs people out of the provider itself, used as it is; off: none',
    otherwise: `${byPreset}, if they have one`,
  }),
  scope: provider('--scope <scopes>', 'PROVIDER_SCOPE', schemas.scope, {
    helpPosition: 11,
    help: 'space-separated scopes to request',
    separator: ' ',
    otherwise: "the preset's; openid with an issuer that speaks OpenID Connect",
  }),
  scopeSeparator: provider('--scope-separator <character>', 'PROVIDER_SCOPE_SEPARATOR', scopeSeparator, {
    help: 'what the provider expects between scopes instead of spaces, such as a comma',
    otherwise: 'a space',
  }),
  tokenRequest: provider('--token-request <how>', 'PROVIDER_TOKEN_REQUEST', tokenRequests, {
    help: 'how the token request carries the client secret: query, body (client_secret_post), basic (client_secret_basic), basic-raw (the same without form-encoding) or json (everything in JSON)',
    otherwise: byPreset,
  }),
  pkce: provider('--pkce <how>', 'PROVIDER_PKCE', schemas.onOrOff, {
    help: 'PKCE in logins with a state: on or off; off is for a provider that refuses it',
    otherwise: "the preset's; on with an issuer",
  }),
  authorizeParams: provider('--authorize-params <query>', 'PROVIDER_AUTHORIZE_PARAMS', parameters, {
    help: 'further parameters of the authorization request, as in a URL: prompt=login&audience=api',
  }),
  tokenParams: provider('--token-params <query>', 'PROVIDER_TOKEN_PARAMS', parameters, {
    help: 'further parameters of the token request, as in a URL',
    secret: true,
  }),
  callbackPath: provider('--callback-path <path>', 'PROVIDER_CALLBACK_PATH', callbackPath, {
    help: 'path of the callback URL below the base URL, if another one is registered at the provider and cannot be changed',
    otherwise: '/auth/<word>/callback',
  }),
  providerTimeout: relay('--provider-timeout <seconds>', 'PROVIDER_TIMEOUT', timeout, {
    help: 'maximum time for one call to the provider',
    default: '10',
  }),
  pathName: provider('--path-name <word>', 'PROVIDER_PATH_NAME', schemas.pathSegment, {
    help: 'the word in /auth/<word> and /auth/<word>/callback',
    default: 'provider',
    inFile: null,
  }),
});

const file = createFileRowMaker();

export const providerFileRows = {
  title: file('title', schemas.oneLine(60), {
    help: 'its name for people who choose between several providers, such as Example Staff',
    otherwise: 'GitHub for the preset github, and so on; else the name of the entry',
    isFreeText: true,
  }),
  requestHeaders: file('request-headers', schemas.requestHeaders, {
    help: "headers that the provider requires in every call except discovery, with their values: { Notion-Version: '2022-06-28' }",
    repeatable: 'lines',
    map: true,
    secret: true,
  }),
  answerScopeSeparator: file('answer-scope-separator', scopeSeparator, {
    help: 'what the provider puts between granted scopes; a space always separates them too',
    otherwise: 'that of requests',
  }),
  tokenAnswer: file('token-answer', field, {
    help: "field of the token endpoint's answer that holds the tokens, if they are not at the top level",
    otherwise: "the preset's",
  }),
  tokenFields: file('token-fields', fieldNames, {
    help: "further fields of the token endpoint's answer that front ends get, such as instance_url (text of at most 512 bytes each)",
    repeatable: true,
  }),
  callbackFields: file('callback-fields', fieldNames, {
    help: 'further parameters of the callback that front ends get, such as realmId (text of at most 512 bytes each)',
    repeatable: true,
  }),
};

export const protectionRows = addGroup('Login protection', {
  stateCheck: provider('--state-check <who>', 'STATE_CHECK', oneOf(['browsers', 'always', 'off']), {
    help: 'which callbacks must carry a state: browsers (those of browsers), always (all) or off (none: the bare protocol)',
    otherwise: 'browsers; always with --token-delivery code, session or cms',
    inFile: {
      otherwise: 'browsers; always if a front end of the provider has the token delivery code, session or cms',
    },
  }),
  keyFile: relay('--key-file <path>', 'KEY_FILE', path, {
    helpPosition: 12,
    help: 'file with the secret (32 or more characters) from which all keys are derived; a second line may hold the previous secret; made if missing',
    otherwise:
      'the systemd credential key, else the file key in the systemd state directory, else derived from the client secret',
    secret: true,
  }),
});
