import type { Logger } from 'pino';
import type { RequestRecord } from './request-record.ts';

/** Logs one line a request. */
export function requestLog(logger: Logger): (record: RequestRecord) => void {
  return (record) => {
    const { durationMs, provider } = record;
    const line = {
      ...record,
      durationMs: rounded(durationMs),
      provider: provider && { ...provider, durationMs: rounded(provider.durationMs) },
    };
    logger[levelOf(record)](line, 'request');
  };
}

// Probes come every few seconds and say nothing that the metrics do not.
const probes: ReadonlySet<string | null> = new Set(['/healthz', '/readyz']);

function levelOf({ route, status, outcome }: RequestRecord) {
  if (probes.has(route)) return 'debug';
  if (status >= 500) return 'error';
  const failedLogin = route?.startsWith('/auth/') && outcome !== 'ok';
  return failedLogin ? 'warn' : 'info';
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
