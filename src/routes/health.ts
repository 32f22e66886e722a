import type { Middleware } from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import type { ProviderSource } from '../upstream/provider-source.ts';

/** The provider of a registration, which may not have been discovered yet. */
export interface AwaitedProvider extends Pick<ProviderSource, 'whyMissing'> {
  readonly name: string;
}

export type Readiness = ReturnType<typeof createReadiness>;

/**
 * Decides whether the relay is ready for requests.
 *
 * @param policy whether the relay is ready once `any` provider is known, or only once `all` are
 * @param isMemoryAway reported, but no reason to be unready, because it is better to serve requests without the shared
 *   memory than to refuse them
 */
export function createReadiness(
  providers: readonly AwaitedProvider[],
  policy: 'any' | 'all' = 'any',
  isMemoryAway: () => boolean = () => false,
) {
  const unavailable = () => providers.filter((provider) => provider.whyMissing() !== undefined);
  const reasonOf = ({ name, whyMissing }: AwaitedProvider) =>
    providers.length === 1 ? `${whyMissing()}` : `${whyMissing()} (${name})`;
  return {
    stopping: false,
    isMemoryAway,
    /** Why the relay is not ready; empty if it is. */
    reasons(): readonly string[] {
      const missing = unavailable();
      const areEnoughKnown = policy === 'any' && missing.length < providers.length;
      const reasons = areEnoughKnown ? [] : missing.map(reasonOf);
      return this.stopping ? ['stopping', ...reasons] : reasons;
    },
    /** The registrations at which no login can start, even if the relay is ready. */
    unavailable: (): readonly string[] => unavailable().map(({ name }) => name),
  };
}

/** `GET /healthz`: answers 200 as long as the process can answer. */
export const alive: Middleware = (ctx) => {
  ctx.body = { status: 'alive' };
};

/** `GET /readyz`: tells a balancer whether to send requests here, with the reasons if not. */
export function ready(readiness: Readiness): Middleware {
  return (ctx) => {
    const reasons = readiness.reasons();
    if (reasons.length > 0) {
      // `login-relay health` reads this form (cli/commands/health.ts).
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
