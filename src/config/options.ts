import * as v from 'valibot';
import { presets } from '../providers/presets.ts';
import { httpUrl, providerUrl } from '../urls.ts';
import * as schemas from './schemas.ts';
import { suggestion } from './suggestion.ts';

/** One setting. Its flag, variable, help text and row in the README all come from here. */
export interface Option {
  readonly flag: `--${string}`;
  /** The flag's argument, as help shows it. A flag without an argument is a switch. */
  readonly argument?: string;
  readonly variable: string;
  readonly group:
    | 'Required'
    | 'Listening'
    | 'Front end'
    | 'Provider'
    | 'Login protection'
    | 'Logs and metrics';
  readonly help: string;
  /** The value if neither the flag nor the variable is set. */
  readonly default?: string;
  /** What happens without a value, in words, if there is no fixed `default`. */
  readonly otherwise?: string;
  /** True if the value is a secret, or may be one by mistake. Messages never show it. */
  readonly secret?: true;
  readonly schema: v.GenericSchema<string, unknown>;
}

const presetNames = presets.map(({ name }) => name);

function didYouMean(name: string): string {
  const preset = suggestion(name, presetNames);
  return preset === undefined ? '' : `: did you mean ${preset}?`;
}

/** Every option of `login-relay serve`, in the order of `--help`: the required ones first. */
export const options = {
  origin: {
    flag: '--origin',
    argument: '<origin>',
    variable: 'FRONTEND_ORIGIN',
    group: 'Required',
    help: 'origin of the front end, such as https://app.example.com',
    otherwise: 'required',
    schema: schemas.origin,
  },
  clientId: {
    flag: '--client-id',
    argument: '<id>',
    variable: 'PROVIDER_CLIENT_ID',
    group: 'Required',
    help: 'client identifier registered at the provider',
    otherwise: 'required',
    schema: schemas.visibleCharacters,
  },
  clientSecretFile: {
    flag: '--client-secret-file',
    argument: '<path>',
    variable: 'PROVIDER_CLIENT_SECRET_FILE',
    group: 'Required',
    help: 'file that holds the client secret',
    otherwise: 'required, except with the systemd credential provider-client-secret',
    secret: true,
    schema: schemas.filePath,
  },
  clientSecret: {
    flag: '--client-secret',
    argument: '<secret>',
    variable: 'PROVIDER_CLIENT_SECRET',
    group: 'Required',
    help: 'the client secret itself; a file is safer',
    otherwise: 'required without a file',
    secret: true,
    schema: schemas.visibleCharacters,
  },
  port: {
    flag: '--port',
    argument: '<number>',
    variable: 'PORT',
    group: 'Listening',
    help: 'port to listen on; 0: any free port',
    default: '8000',
    schema: schemas.wholeNumber(0, 65535),
  },
  host: {
    flag: '--host',
    argument: '<host>',
    variable: 'HOST',
    group: 'Listening',
    help: 'address to listen on',
    default: '127.0.0.1',
    schema: schemas.listenHost,
  },
  baseUrl: {
    flag: '--base-url',
    argument: '<url>',
    variable: 'BASE_URL',
    group: 'Listening',
    help: 'public URL of this relay, as browsers and the provider see it',
    otherwise: 'http://localhost:PORT, https with a certificate',
    schema: httpUrl,
  },
  insecureHttp: {
    flag: '--insecure-http',
    variable: 'INSECURE_HTTP',
    group: 'Listening',
    help: 'allow http:// URLs with hosts other than this machine',
    default: 'false',
    schema: schemas.trueOrFalse,
  },
  tlsCert: {
    flag: '--tls-cert',
    argument: '<path>',
    variable: 'TLS_CERT',
    group: 'Listening',
    help: 'TLS certificate with its chain (PEM), to serve https without a proxy; read again when it changes',
    otherwise: 'none: plain http',
    schema: schemas.filePath,
  },
  tlsKey: {
    flag: '--tls-key',
    argument: '<path>',
    variable: 'TLS_KEY',
    group: 'Listening',
    help: 'private key of the TLS certificate (PEM)',
    otherwise: 'required with a certificate',
    secret: true,
    schema: schemas.filePath,
  },
  maxConnections: {
    flag: '--max-connections',
    argument: '<number>',
    variable: 'MAX_CONNECTIONS',
    group: 'Listening',
    help: 'maximum number of connections; beyond it, a new connection replaces the one that has been idle longest',
    default: '4096',
    schema: schemas.wholeNumber(1, 1_000_000),
  },
  rateLimit: {
    flag: '--rate-limit',
    argument: '<number>',
    variable: 'RATE_LIMIT',
    group: 'Listening',
    help: 'maximum number of callbacks and user lookups, together, per minute and client address',
    otherwise: 'off',
    schema: schemas.wholeNumber(1, 1_000_000),
  },
  refusedExchanges: {
    flag: '--refused-exchanges',
    argument: '<number>',
    variable: 'REFUSED_EXCHANGES',
    group: 'Listening',
    help: 'maximum number of codes per client address that the provider may refuse in ten minutes; 0: no limit',
    default: '10',
    schema: schemas.wholeNumber(0, 1_000_000),
  },
  trustedProxies: {
    flag: '--trusted-proxies',
    argument: '<addresses>',
    variable: 'TRUSTED_PROXIES',
    group: 'Listening',
    help: 'comma-separated IPs or CIDRs of proxies whose X-Forwarded-For is trusted; unix: any proxy that connects through a Unix socket',
    otherwise: 'none',
    schema: schemas.trustedProxies,
  },
  frontendUrl: {
    flag: '--frontend-url',
    argument: '<url>',
    variable: 'FRONTEND_URL',
    group: 'Front end',
    help: 'page that receives the token; it must be inside the origin',
    otherwise: 'the origin',
    schema: httpUrl,
  },
  tokenDelivery: {
    flag: '--token-delivery',
    argument: '<where>',
    variable: 'TOKEN_DELIVERY',
    group: 'Front end',
    help: 'part of the front end URL that carries the token: query or fragment',
    default: 'query',
    schema: schemas.oneOf(['query', 'fragment']),
  },
  errorDelivery: {
    flag: '--error-delivery',
    argument: '<how>',
    variable: 'ERROR_DELIVERY',
    group: 'Front end',
    help: 'how failures are answered: json; page (a page for people, JSON for programs); or redirect (a failed login goes to the front end with error, error_description and request_id)',
    default: 'json',
    schema: schemas.oneOf(['json', 'page', 'redirect']),
  },
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
        ({ input }) => `must be one that login-relay providers lists${didYouMean(input)}`,
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
  scope: {
    flag: '--scope',
    argument: '<scopes>',
    variable: 'PROVIDER_SCOPE',
    group: 'Provider',
    help: 'space-separated scopes to request',
    otherwise: "the preset's; openid with an issuer",
    schema: schemas.scope,
  },
  tokenRequest: {
    flag: '--token-request',
    argument: '<how>',
    variable: 'PROVIDER_TOKEN_REQUEST',
    group: 'Provider',
    help: 'how the token request carries the client secret: query, body (client_secret_post) or basic (client_secret_basic)',
    otherwise: "the preset's or the issuer's",
    schema: schemas.oneOf(['query', 'body', 'basic']),
  },
  pathName: {
    flag: '--path-name',
    argument: '<word>',
    variable: 'PROVIDER_PATH_NAME',
    group: 'Provider',
    help: 'the word in /auth/<word> and /auth/<word>/callback',
    default: 'provider',
    schema: schemas.pathSegment,
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
  stateCheck: {
    flag: '--state-check',
    argument: '<who>',
    variable: 'STATE_CHECK',
    group: 'Login protection',
    help: 'which callbacks must carry a state: browsers (those of browsers), always (all) or off (none: the bare protocol)',
    default: 'browsers',
    schema: schemas.oneOf(['browsers', 'always', 'off']),
  },
  stateKeyFile: {
    flag: '--state-key-file',
    argument: '<path>',
    variable: 'STATE_KEY_FILE',
    group: 'Login protection',
    help: 'file with the key that signs states, 32 or more characters; a second line may hold the previous key',
    otherwise: 'the systemd credential state-key, else derived from the client secret',
    secret: true,
    schema: schemas.filePath,
  },
  logLevel: {
    flag: '--log-level',
    argument: '<level>',
    variable: 'LOG_LEVEL',
    group: 'Logs and metrics',
    help: 'lowest level that is logged: debug, info, warn, error or silent',
    default: 'info',
    schema: schemas.oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  },
  logFormat: {
    flag: '--log-format',
    argument: '<format>',
    variable: 'LOG_FORMAT',
    group: 'Logs and metrics',
    help: 'log format: pretty or json',
    otherwise: 'pretty on a terminal, else json',
    schema: schemas.oneOf(['pretty', 'json']),
  },
  logClientAddress: {
    flag: '--log-client-address',
    argument: '<how>',
    variable: 'LOG_CLIENT_ADDRESS',
    group: 'Logs and metrics',
    help: 'client address in the log: off, whole, or cut to its network (IPv4 /24, IPv6 /48)',
    default: 'off',
    schema: schemas.oneOf(['off', 'whole', 'cut']),
  },
  metricsPort: {
    flag: '--metrics-port',
    argument: '<number>',
    variable: 'METRICS_PORT',
    group: 'Logs and metrics',
    help: 'port that serves GET /metrics for Prometheus; keep it private',
    otherwise: 'off',
    schema: schemas.wholeNumber(0, 65535),
  },
  metricsHost: {
    flag: '--metrics-host',
    argument: '<host>',
    variable: 'METRICS_HOST',
    group: 'Logs and metrics',
    help: 'address that the metrics port listens on',
    default: '127.0.0.1',
    schema: schemas.listenHost,
  },
} as const satisfies Record<string, Option>;

/** The name of an option. Commander uses the same name for the flag's value. */
export type OptionName = keyof typeof options;

/** The parsed value of each option that has one. */
export type OptionValues = {
  readonly [Name in OptionName]?: v.InferOutput<(typeof options)[Name]['schema']> | undefined;
};

/** The flag and the variable of an option, for messages: `--port (PORT)`. */
export function describeOption(name: OptionName): string {
  return `${options[name].flag} (${options[name].variable})`;
}
