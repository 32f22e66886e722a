import { Counter, type Registry } from 'prom-client';
import { sessionPaths } from '../../paths.ts';
import type { RequestRecord } from '../request-record.ts';

/** The start of a login, or its callback. */
const loginRoute = /^\/auth\/[^/]+(\/callback|\/:frontEnd)?$/;

/** Counts the starts and ends of logins. */
export function createLoginMetrics(registry: Registry) {
  const registers = [registry];
  const started = new Counter({
    name: 'login_relay_logins_started_total',
    help: 'Browsers sent to the provider.',
    registers,
  });
  const finished = new Counter({
    name: 'login_relay_logins_finished_total',
    help: 'Logins handed to the front end: with a token, with a code to redeem, or as a session.',
    registers,
  });
  const failed = new Counter({
    name: 'login_relay_logins_failed_total',
    help: 'Callbacks that ended without a token, by failure.',
    labelNames: ['reason'],
    registers,
  });
  // Prometheus computes a rate from the second value on. Start at 0, so that the first failure counts.
  failed.inc({ reason: 'client_refused' }, 0);
  const excusedCallbacks = new Counter({
    name: 'login_relay_callbacks_excused_total',
    help: 'Callbacks that were excused from the state check.',
    registers,
  });

  return {
    observe({ method, route, outcome, excused }: RequestRecord): void {
      if (excused) excusedCallbacks.inc();
      const [isOfLogin, end] = loginRoute.exec(route ?? '') ?? [];
      if (method !== 'GET' || isOfLogin === undefined || sessionPaths.has(route)) return;
      if (end !== '/callback') {
        if (outcome === 'ok') started.inc();
      } else if (outcome === 'ok') finished.inc();
      else failed.inc({ reason: outcome });
    },
  };
}
