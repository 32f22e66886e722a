import type { Option } from '../option.ts';
import { checked, type Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** Log and metrics. */
export interface Observability {
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Undefined: pretty on a terminal, else json. */
  readonly logFormat: 'pretty' | 'json' | undefined;
  /** How the log shows clients' addresses: not at all, whole, or cut to their /24 or /48. */
  readonly logClientAddress: 'off' | 'whole' | 'cut';
  /** The address of the metrics port. Undefined: no metrics. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
}

/** The options of {@link Observability}. */
export const observabilityOptions = {
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

/** Reads the section. The result gives its values; call it only if no fault was reported. */
export function readObservability(reading: Reading): () => Observability {
  const { values, sourceOf, describe, fault, warn } = reading;
  const { port, host, metricsPort, metricsHost } = values;
  if (port !== undefined && port !== 0 && port === metricsPort && host === metricsHost) {
    fault('metricsPort', `must not be the port of ${describe('port')}`);
  }
  if (sourceOf('metricsHost') !== undefined && metricsPort === undefined) {
    warn('metricsHost', `has no effect without ${describe('metricsPort')}`);
  }
  return () => ({
    logLevel: checked(values.logLevel),
    logFormat: values.logFormat,
    logClientAddress: checked(values.logClientAddress),
    metrics:
      metricsPort === undefined ? undefined : { host: checked(metricsHost), port: metricsPort },
  });
}
