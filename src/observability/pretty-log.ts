import { prettyFactory } from 'pino-pretty';
import { effectOf } from './request-effect.ts';
import type { RequestRecord } from './request-log.ts';

export const prettyLine: (line: string) => string = prettyFactory({
  hideObject: true,
  // Only the level has a colour.
  customColors: 'message:reset',
  useOnlyCustomProps: false,
  translateTime: 'SYS:HH:MM:ss',
  messageFormat: (line) => textOf(line),
});

/** The actions at addresses that do not name the provider. */
const unnamedByAddress: ReadonlySet<unknown> = new Set(['user', 'door-choose', 'door-callback', 'gateway']);

function textOf(line: Readonly<Record<string, unknown>>): string {
  const { msg } = line;
  return msg === 'request' ? textOfRequest(line) : lines(String(msg), ...details(line));
}

function textOfRequest(line: Readonly<Partial<Record<keyof RequestRecord, unknown>>>): string {
  const { action, route, status, outcome } = line;
  return lines(
    `${line.method} ${route ?? inPlaceOfRoute(line)} ${status} ${outcome} in ${line.durationMs} ms`,
    effectOf(line),
    line.registration && unnamedByAddress.has(action) && `provider: ${line.registration}`,
    line.frontEnd && `front end: ${line.frontEnd}`,
    providerCall(line.provider),
    line.refusedBy && `the person is not in ${line.refusedBy}.allow`,
    fieldsOf(line.fields),
    line.excused && 'excused from the state check',
    line.providerError && `provider's error code: ${line.providerError}`,
    line.clientAddress && `client: ${line.clientAddress}`,
    outcome !== 'ok' && outcome !== 'login_started' && `request ID: ${line.requestId}`,
    line.stack,
  );
}

/** Preflights are answered before their route is known. */
function inPlaceOfRoute({ method, outcome }: Parameters<typeof textOfRequest>[0]): string {
  return method === 'OPTIONS' && outcome === 'ok' ? '(any address)' : '(no such address)';
}

function providerCall(call: unknown): string | undefined {
  if (typeof call !== 'object' || call === null) return undefined;
  const { endpoint, outcome, status, error, durationMs } = call as Record<string, unknown>;
  const how = [status ?? outcome, error && `(${error})`].filter(Boolean).join(' ');
  return `provider's ${endpoint} endpoint: ${how} in ${durationMs} ms`;
}

/** The unusable fields of a person's record: `email: unverified, groups: missing`. */
function fieldsOf(fields: unknown): string | undefined {
  if (!Array.isArray(fields)) return undefined;
  return `fields of the person: ${fields.map(({ field, reason }) => `${field} ${reason}`).join(', ')}`;
}

const inEveryLine: ReadonlySet<string> = new Set(['level', 'time', 'msg']);

/** Each further field of a line, and each entry of a list. */
function details(line: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(line)
    .filter(([name]) => !inEveryLine.has(name))
    .flatMap(([name, value]) => (Array.isArray(value) ? value.map(String) : `${name}: ${value}`));
}

/** A first line with the others below it. Empty parts are left out. */
function lines(...parts: readonly unknown[]): string {
  return parts.filter(Boolean).join('\n  ');
}
