import { plainUrl } from '../../urls.ts';
import * as schemas from '../schemas.ts';
import { addGroup, createRowMaker } from './setting.ts';

const relay = createRowMaker('relay');
const { filePath, hostNames, listenHost, oneOf, sharedMemory, trustedProxies, wholeNumber } = schemas;
const counts = wholeNumber(1, 1_000_000);
const countsOrNone = wholeNumber(0, 1_000_000);
const levels = oneOf(['debug', 'info', 'warn', 'error', 'silent']);
const addresses = oneOf(['off', 'whole', 'cut']);

export const listeningRows = addGroup('Listening', {
  port: relay('--port <number>', 'PORT', wholeNumber(0, 65535), {
    helpPosition: 5,
    help: 'port to listen on; 0: any free port',
    default: '8000',
    restart: true,
  }),
  host: relay('--host <host>', 'HOST', listenHost, {
    help: 'address to listen on',
    default: '127.0.0.1',
    restart: true,
  }),
  baseUrl: relay('--base-url <url>', 'BASE_URL', plainUrl, {
    helpPosition: 4,
    isAddress: true,
    help: 'public URL of this relay, as browsers see it',
    otherwise: 'http://localhost:PORT, https with a certificate',
  }),
  insecureHttp: relay('--insecure-http', 'INSECURE_HTTP', schemas.trueOrFalse, {
    help: 'allow http:// and redis:// URLs with hosts other than this machine',
    default: 'false',
  }),
  tlsCert: relay('--tls-cert <path>', 'TLS_CERT', filePath, {
    help: 'TLS certificate with its chain (PEM), to serve https without a proxy; read again when it changes',
    otherwise: 'none (plain http)',
    restart: 'presence',
  }),
  tlsKey: relay('--tls-key <path>', 'TLS_KEY', filePath, {
    help: 'private key of the TLS certificate (PEM)',
    otherwise: 'required with a certificate',
    secret: true,
  }),
  maxConnections: relay('--max-connections <number>', 'MAX_CONNECTIONS', counts, {
    help: 'maximum number of connections; beyond it, a new connection replaces the one that has been idle longest',
    default: '4096',
    restart: true,
  }),
  readyPolicy: relay('--ready-policy <which>', 'READY_POLICY', oneOf(['any', 'all']), {
    help: 'how many providers must be discovered before /readyz answers 200: any (one is enough) or all',
    default: 'any',
  }),
  rateLimit: relay('--rate-limit <number>', 'RATE_LIMIT', counts, {
    help: 'maximum number of callbacks, token requests, lookups and similar requests, all together, per minute and client address',
    otherwise: 'off',
  }),
  refusedExchanges: relay('--refused-exchanges <number>', 'REFUSED_EXCHANGES', countsOrNone, {
    help: 'codes and tokens of one client address that the provider may refuse in ten minutes, before the relay refuses further ones; 0: no limit',
    default: '10',
  }),
  trustedProxies: relay('--trusted-proxies <addresses>', 'TRUSTED_PROXIES', trustedProxies, {
    helpPosition: 6,
    separator: ',',
    help: 'comma-separated IPs or CIDRs of proxies whose X-Forwarded-For is trusted; unix: any proxy that connects through a Unix socket',
  }),
});

export const sharedMemoryRows = addGroup('Several relays', {
  sharedMemory: relay('--shared-memory <url>', 'SHARED_MEMORY', sharedMemory, {
    help: 'Valkey or Redis server (7 or later) where several relays share what they remember: redis://, rediss://, unix:/path, redis+sentinel://h1,h2/name or redis+cluster://h1,h2; needs a key file',
    otherwise: 'each relay remembers on its own',
    secret: true,
    restart: true,
  }),
  sharedMemoryPasswordFile: relay('--shared-memory-password-file <path>', 'SHARED_MEMORY_PASSWORD_FILE', filePath, {
    help: 'file with the password for that server',
    otherwise: 'the systemd credential shared-memory-password, else none',
    secret: true,
    restart: true,
  }),
  sharedMemoryCa: relay('--shared-memory-ca <path>', 'SHARED_MEMORY_CA', filePath, {
    help: 'certificates (PEM) of the private authority that signed the certificate of that server',
    otherwise: 'the authorities of the system',
    restart: true,
  }),
  sessionCheck: relay('--session-check <how>', 'SESSION_CHECK', oneOf(['open', 'strict']), {
    help: 'what happens to sessions while that server does not answer: open (they work, even if another relay has logged them out) or strict (503)',
    default: 'open',
  }),
});

export const observabilityRows = addGroup('Logs and metrics', {
  logLevel: relay('--log-level <level>', 'LOG_LEVEL', levels, {
    help: 'lowest level that is logged: debug, info, warn, error or silent',
    default: 'info',
    restart: true,
  }),
  logFormat: relay('--log-format <format>', 'LOG_FORMAT', oneOf(['pretty', 'json']), {
    help: 'log format: pretty or json',
    otherwise: 'pretty on a terminal, else json',
    restart: true,
  }),
  logClientAddress: relay('--log-client-address <how>', 'LOG_CLIENT_ADDRESS', addresses, {
    help: 'client address in the log: off, whole, or cut to its network (IPv4 /24, IPv6 /48)',
    default: 'off',
  }),
  logPeople: relay('--log-people', 'LOG_PEOPLE', schemas.trueOrFalse, {
    help: 'log the id of the person at each use of a resource and at each refused login',
    default: 'false',
  }),
  metricsPort: relay('--metrics-port <number>', 'METRICS_PORT', wholeNumber(0, 65535), {
    help: 'port that serves GET /metrics for Prometheus; keep it private',
    otherwise: 'off',
    restart: true,
  }),
  metricsHost: relay('--metrics-host <host>', 'METRICS_HOST', listenHost, {
    help: 'address that the metrics port listens on',
    default: '127.0.0.1',
    restart: true,
  }),
  metricsNames: relay('--metrics-names <names>', 'METRICS_NAMES', hostNames, {
    separator: ',',
    help: 'comma-separated host names under which the metrics port is requested',
    otherwise:
      'localhost; on other addresses than 127.0.0.1 and ::1 also names that nobody can register, such as login-relay or relay.internal',
    restart: true,
  }),
});

export const configFileRows = addGroup('Configuration file', {
  config: relay('--config <path>', 'LOGIN_RELAY_CONFIG', filePath, {
    helpPosition: 13,
    help: 'YAML file with providers, front ends and any other setting; flags and variables override it',
    inFile: null,
  }),
});
