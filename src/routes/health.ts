import type { Middleware } from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import type { ProviderSource } from '../upstream/provider-source.ts';

export interface AwaitedProvider extends Pick<ProviderSource, 'missing'> {
  readonly name: string;
}

/** Whether a relay should get new requests. */
export type Readiness = ReturnType<typeof createReadiness>;

/**
 * @param policy whether the relay is ready once `any` provider is known, or `all` of them
 * @param isMemoryAway whether the shared memory does not answer. Requests are still better served here than nowhere.
 */
export function createReadiness(
  providers: readonly AwaitedProvider[],
  policy: 'any' | 'all' = 'any',
  isMemoryAway: () => boolean = () => false,
) {
  const unavailable = () => providers.filter((provider) => provider.missing() !== undefined);
  // A relay with several providers names the registration.
  const reasonOf = ({ name, missing }: AwaitedProvider) =>
    providers.length === 1 ? `${missing()}` : `${missing()} (${name})`;
  return {
    /** Set once, when the relay begins to stop. */
    stopping: false,
    isMemoryAway,
    /** The reasons why not; empty if the relay is ready. */
    reasons(): readonly string[] {
      const missing = unavailable();
      const isEnough = policy === 'any' && missing.length < providers.length;
      return [...(this.stopping ? ['stopping'] : []), ...(isEnough ? [] : missing.map(reasonOf))];
    },
    /** The registrations that no login can be started with, whether or not the relay is ready. */
    unavailable: (): readonly string[] => unavailable().map(({ name }) => name),
  };
}

/** `GET /healthz`: the process is alive and answers. */
export const alive: Middleware = (ctx) => {
  ctx.body = { status: 'alive' };
};

/** `GET /readyz`: whether a balancer should send requests here; if not, the reasons. */
export function ready(readiness: Readiness): Middleware {
  return (ctx) => {
    const reasons = readiness.reasons();
    if (reasons.length > 0) {
      throw new RelayError('not_ready', { detail: `Not ready: ${reasons.join(', ')}.` });
    }
    const unavailable = readiness.unavailable();
    ctx.body = {
      status: 'ready',
      ...(unavailable.length > 0 && { unavailable }),
      ...(readiness.isMemoryAway() && { memory: 'away' }),
    };
  };
}
