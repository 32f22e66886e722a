import { nativeOrigins, originPatterns } from '../../origins/origin-schemas.ts';
import { longestDays } from '../../times.ts';
import { httpUrl } from '../../urls.ts';
import * as schemas from '../schemas.ts';
import { addGroup, createFileRowMaker, createRowMaker } from './setting.ts';

const relay = createRowMaker('relay');
const frontEnd = createRowMaker('front-ends');
const inFile = createFileRowMaker();
const { days, hours, oneOf } = schemas;
const tokenDeliveries = oneOf(['query', 'fragment', 'code', 'session', 'cms']);
const errorDeliveries = oneOf(['json', 'page', 'redirect']);
const refreshTokenKinds = oneOf(['bound', 'bearer', 'off']);

export const requiredFrontEndRows = addGroup('Required', {
  origin: frontEnd('--origin <origin>', 'FRONTEND_ORIGIN', originPatterns, {
    helpPosition: 1,
    isAddress: true,
    separator: ' ',
    help: 'origin of the front end, such as https://app.example.com; a * is any label or port. A CMS may have several',
    otherwise: 'required',
    inFile: {
      help: 'origin of the front end, such as https://app.example.com; a * stands for one label or for any port. With token-delivery cms, it may be a list',
      otherwise: 'required, except with kind native or machine, or client-key-file',
    },
  }),
});

export const frontEndRows = addGroup('Front end', {
  frontendUrl: frontEnd('--frontend-url <url>', 'FRONTEND_URL', httpUrl, {
    help: 'page that receives the token; it must be inside the origin',
    otherwise: 'the origin; /admin/ there with --token-delivery cms',
  }),
  redirectUri: frontEnd('--redirect-uri <url>', 'FRONTEND_REDIRECT_URI', schemas.redirectUris, {
    help: 'page inside the origin that an OAuth login may return to; repeat the flag for several, or put spaces between them in the variable',
    otherwise: 'the front end URL',
    inFile: {
      help: 'pages inside the origin that OAuth logins may return to',
      otherwise: 'the front end URL',
    },
    repeatable: true,
  }),
  tokenDelivery: frontEnd('--token-delivery <how>', 'TOKEN_DELIVERY', tokenDeliveries, {
    helpPosition: 7,
    help: 'how the front end gets the token: query or fragment (in the front end URL), code (by OAuth with PKCE only), session (it does not: a cookie of the relay holds the token), or cms (in the popup of Decap CMS or Sveltia CMS)',
    default: 'query',
  }),
  errorDelivery: frontEnd('--error-delivery <how>', 'ERROR_DELIVERY', errorDeliveries, {
    helpPosition: 8,
    help: 'how to answer failures: json; page (a page for people, JSON for programs); or redirect (to the front end, with error, error_description and request_id)',
    otherwise: 'json; redirect with --token-delivery session',
  }),
  refreshTokens: relay('--refresh-tokens <kind>', 'REFRESH_TOKENS', refreshTokenKinds, {
    help: 'refresh tokens for OAuth logins: bound (only to pages that prove a key with DPoP), bearer (to all pages) or off',
    default: 'bound',
  }),
  refreshLifetime: relay('--refresh-lifetime <days>', 'REFRESH_LIFETIME', days(1, longestDays.refreshToken), {
    help: 'days after which a login can no longer be refreshed',
    default: '30',
  }),
  sessionLifetime: relay('--session-lifetime <days>', 'SESSION_LIFETIME', days(1, longestDays.session), {
    help: 'days after which a session ends, however often it is refreshed',
    default: '7',
  }),
  sessionIdle: relay('--session-idle <hours>', 'SESSION_IDLE', hours(1, 9600), {
    help: 'hours after which a session ends if it is not refreshed',
    default: '24',
  }),
});

export const frontEndFileRows = {
  kind: inFile('kind', oneOf(['page', 'native', 'machine']), {
    help: "page; native (programs on users' machines, such as command lines and apps, which log in with OAuth and PKCE only; their redirect URIs are https pages, http on 127.0.0.1, [::1] or localhost with any port, or app schemes such as com.example.app:/callback); or machine (a program without a user, which gets tokens for resources with its own secret or key)",
    otherwise: 'page',
  }),
  secretFile: inFile('secret-file', schemas.filePath, {
    help: "file with the machine's secret (32 or more characters); a second line may hold the previous one",
    otherwise: 'the systemd credential <name>-machine-secret, if there is no public-key-file',
    secret: true,
  }),
  publicKeyFile: inFile('public-key-file', schemas.filePath, {
    help: "file with the machine's public key (PEM or JWK; P-256, Ed25519 or RSA), which verifies the requests that it signs; may hold two keys",
    otherwise: 'none: the machine has a secret',
    unquoted: true,
  }),
  origins: inFile('origins', nativeOrigins, {
    help: 'with kind native: origins of the pages in its apps and browser extensions, such as chrome-extension://<id> or capacitor://localhost',
    otherwise: 'those of its redirect URIs',
    separator: ' ',
  }),
  clientKeyFile: inFile('client-key-file', schemas.filePath, {
    help: 'file with the secret (32 or more characters) from which login-relay client-id makes client identifiers, for pages whose hosts are not known yet; a second line may hold the previous secret',
    secret: true,
  }),
  providers: inFile('providers', schemas.names, {
    help: 'names of the providers that the front end may use',
    otherwise: 'all',
    repeatable: true,
    unquoted: true,
  }),
  scope: inFile('scope', schemas.scope, {
    help: 'scopes that the front end may request; it gets all of them if it requests none',
    otherwise: "the provider's",
    separator: ' ',
  }),
  resources: inFile('resources', schemas.names, {
    help: "names of the resources that it logs in to: it gets tokens for them, and never the provider's token",
    otherwise: "none: it gets the provider's token",
    repeatable: true,
    unquoted: true,
  }),
  refreshTokens: inFile('refresh-tokens', refreshTokenKinds, {
    help: 'refresh tokens of the front end: bound, bearer or off',
    otherwise: "the relay's",
  }),
};
