import { prettyFactory } from 'pino-pretty';
import { describeEffect } from './request-effect.ts';
import type { RequestRecord } from './request-log.ts';

/** Formats a line of the log for people. */
export const formatForPeople: (line: string) => string = prettyFactory({
  hideObject: true,
  // Only the level has a colour.
  customColors: 'message:reset',
  useOnlyCustomProps: false,
  translateTime: 'SYS:HH:MM:ss',
  messageFormat: (line) => formatLine(line),
});

/** The actions at addresses that do not name the provider. */
const unnamedByAddress: ReadonlySet<unknown> = new Set([
  'user',
  'door-choose',
  'door-login',
  'door-callback',
  'gateway',
]);

function formatLine(line: Readonly<Record<string, unknown>>): string {
  const { msg } = line;
  return msg === 'request' ? formatRequest(line) : joinLines(String(msg), ...listOtherFields(line));
}

/** Formats the record of a request. */
function formatRequest(line: Readonly<Partial<Record<keyof RequestRecord, unknown>>>): string {
  const { action, route, status, outcome } = line;
  return joinLines(
    `${line.method} ${route ?? describeMissingRoute(line)} ${status} ${outcome} in ${line.durationMs} ms`,
    describeEffect(line),
    line.registration && unnamedByAddress.has(action) && `provider: ${line.registration}`,
    line.frontEnd && `front end: ${line.frontEnd}`,
    describeProviderCall(line.provider),
    line.refusedBy && `the person is not in ${line.refusedBy}.allow`,
    describeFields(line.fields),
    line.excused && 'excused from the state check',
    line.providerError && `provider's error code: ${line.providerError}`,
    line.asked && `asked for: ${line.asked}`,
    Array.isArray(line.known) && `known: ${line.known.join(', ')}`,
    line.peer && `asked by: ${line.peer}`,
    line.clientAddress && `client: ${line.clientAddress}`,
    outcome !== 'ok' && outcome !== 'login_started' && `request ID: ${line.requestId}`,
    ...String(line.stack ?? '').split('\n'),
  );
}

/** Describes a request without a route: a preflight, which is answered before its route is known, or any other. */
function describeMissingRoute({ method, outcome }: Parameters<typeof formatRequest>[0]): string {
  return method === 'OPTIONS' && outcome === 'ok' ? '(any address)' : '(no such address)';
}

/** Describes the call to the provider that a request caused: `provider's token endpoint: 200 in 80 ms`. */
function describeProviderCall(call: unknown): string | undefined {
  if (typeof call !== 'object' || call === null) return undefined;
  const { endpoint, outcome, status, error, durationMs } = call as Record<string, unknown>;
  const result = [status ?? outcome, error && `(${error})`].filter(Boolean).join(' ');
  return `provider's ${endpoint} endpoint: ${result} in ${durationMs} ms`;
}

/** Describes the unusable fields of a person's record: `email unverified, groups missing`. */
function describeFields(fields: unknown): string | undefined {
  if (!Array.isArray(fields)) return undefined;
  return `fields of the person: ${fields.map(({ field, reason }) => `${field} ${reason}`).join(', ')}`;
}

const inEveryLine: ReadonlySet<string> = new Set(['level', 'time', 'msg']);

/** Lists the further fields of a line, and each entry of a list. */
function listOtherFields(line: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(line)
    .filter(([name]) => !inEveryLine.has(name))
    .flatMap(([name, value]) => (Array.isArray(value) ? value.map(String) : `${name}: ${value}`));
}

/** Joins a first line with further lines, which are indented. Empty parts are left out. */
function joinLines(...parts: readonly unknown[]): string {
  return parts.filter(Boolean).map(escapeInvisible).join('\n  ');
}

/**
 * Escapes line breaks, and characters that control a terminal or reorder text. Strangers choose some values, such as
 * an unknown redirect URI, and could otherwise write lines of their own into the log, or hide others.
 */
function escapeInvisible(part: unknown): string {
  return `${part}`.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
