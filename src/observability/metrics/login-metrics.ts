import { Counter, type Registry } from 'prom-client';
import { sessionPaths } from '../../paths.ts';
import type { RequestRecord } from '../request-record.ts';
import { registrationLabel } from './registration-label.ts';

/** The start of a login, of a CMS too, or its callback. */
const loginRoute = /^\/auth(?:\/[^/]+(\/callback|\/:frontEnd)?)?$/;

/**
 * Counts the starts and ends of logins.
 *
 * @param providers gives the registrations; called for every scrape
 */
export function createLoginMetrics(
  registry: Registry,
  providers: () => readonly Pick<RequestRecord, 'registration'>[],
) {
  const registers = [registry];
  // Prometheus computes a rate from the second value on. Start at 0, so that the first failure counts, also at a
  // registration that a reload has added.
  const startAtZero = (counter: Counter, labels: object = {}) => {
    for (const provider of providers()) {
      counter.inc({ ...labels, ...registrationLabel(provider) }, 0);
    }
  };
  const started = new Counter({
    name: 'login_relay_logins_started_total',
    help: 'Browsers sent to the provider.',
    labelNames: ['registration'],
    registers,
    collect() {
      startAtZero(this);
    },
  });
  const finished = new Counter({
    name: 'login_relay_logins_finished_total',
    help: 'Logins handed to the front end: with a token, with a code to redeem, or as a session.',
    labelNames: ['registration'],
    registers,
    collect() {
      startAtZero(this);
    },
  });
  const failed = new Counter({
    name: 'login_relay_logins_failed_total',
    help: 'Callbacks that ended without a token, by failure.',
    labelNames: ['reason', 'registration'],
    registers,
    collect() {
      startAtZero(this, { reason: 'client_refused' });
    },
  });
  const excusedCallbacks = new Counter({
    name: 'login_relay_callbacks_excused_total',
    help: 'Callbacks that were excused from the state check.',
    registers,
  });

  return {
    observe(record: RequestRecord): void {
      const { method, route, outcome, excused } = record;
      if (excused) excusedCallbacks.inc();
      const [isOfLogin, end] = loginRoute.exec(route ?? '') ?? [];
      if (method !== 'GET' || isOfLogin === undefined || sessionPaths.has(route)) return;
      const label = registrationLabel(record);
      if (end !== '/callback') {
        if (outcome === 'ok') started.inc(label);
      } else if (outcome === 'ok') finished.inc(label);
      else failed.inc({ reason: outcome, ...label });
    },
  };
}
