import { Counter, type Registry } from 'prom-client';
import { paths } from '../../paths.ts';
import type { RequestRecord } from '../request-record.ts';

const revocationRoute = /^\/auth\/[^/]+\/revoke$/;

/** Counts what front ends do with codes, refresh tokens and sessions, by outcome. */
export function createGrantMetrics(registry: Registry) {
  const registers = [registry];
  const redemptions = new Counter({
    name: 'login_relay_redemptions_total',
    help: 'Codes that front ends redeemed, or tried to redeem, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const refreshes = new Counter({
    name: 'login_relay_refreshes_total',
    help: 'Refresh requests of front ends, also of sessions, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const revocations = new Counter({
    name: 'login_relay_revocations_total',
    help: 'Revocation requests of front ends, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const logouts = new Counter({
    name: 'login_relay_logouts_total',
    help: 'Logouts of sessions, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const counter of [redemptions, refreshes, revocations, logouts]) {
    counter.inc({ outcome: 'ok' }, 0);
  }

  return {
    observe({ method, route, outcome, grant }: RequestRecord): void {
      if (grant === 'authorization_code') redemptions.inc({ outcome });
      if (grant === 'refresh_token') refreshes.inc({ outcome });
      if (method !== 'POST' || route === null) return;
      if (route === paths.sessionRefresh) refreshes.inc({ outcome });
      if (route === paths.logout) logouts.inc({ outcome });
      if (revocationRoute.test(route)) revocations.inc({ outcome });
    },
  };
}
