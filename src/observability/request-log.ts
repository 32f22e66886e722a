import type { Logger } from 'pino';
import { paths } from '../paths.ts';
import type { UpstreamCall } from '../upstream/messages.ts';
import { hasFailed } from './request-effect.ts';
import type { RequestRecord } from './request-record.ts';

const excusedWarning =
  'A callback without a state was accepted, because it has no sign of a browser. ' +
  'A proxy that strips headers removes these signs. --state-check always refuses such callbacks.';

/** Logs one line per request, and a warning before the first request that was excused from the state check. */
export function requestLog(logger: Logger): (record: RequestRecord) => void {
  let excusedBefore = false;
  return (record) => {
    if (record.excused && !excusedBefore) {
      excusedBefore = true;
      logger.warn(excusedWarning);
    }
    const { durationMs, provider } = record;
    const line = {
      ...record,
      durationMs: rounded(durationMs),
      provider: provider && callOf(provider),
    };
    logger[levelOf(record)](line, 'request');
  };
}

// Probes come every few seconds. The metrics count them.
const probes: ReadonlySet<string | null> = new Set([paths.alive, paths.ready]);

function levelOf(record: RequestRecord) {
  const { route, status, outcome } = record;
  if (probes.has(route)) return 'debug';
  // An API of the provider may answer 5xx, too. Any page can make a browser prefetch.
  if (status >= 500 && outcome !== 'ok' && outcome !== 'prefetch_refused') return 'error';
  const isBrokenOff = status < 400 && outcome !== 'ok' && outcome !== 'client_gone';
  const failedLogin = route?.startsWith('/auth/') && hasFailed(record);
  return failedLogin || isBrokenOff ? 'warn' : 'info';
}

/** The call as the log shows it: `sent` is for the relay itself. */
function callOf({ sent: _, ...call }: UpstreamCall): Omit<UpstreamCall, 'sent'> {
  return { ...call, durationMs: rounded(call.durationMs) };
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
