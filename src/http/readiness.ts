import type { ProviderSource } from '../upstream/provider-source.ts';

/** The provider of one registration. */
export interface AwaitedProvider extends Pick<ProviderSource, 'missing'> {
  /** The name of the registration. */
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
  return {
    /** Set once, when the relay begins to stop. */
    stopping: false,
    isMemoryAway,
    /** The reasons why not; empty if the relay is ready. */
    reasons(): readonly string[] {
      const missing = unavailable();
      const isEnough = policy === 'any' && missing.length < providers.length;
      return [
        ...(this.stopping ? ['stopping'] : []),
        ...(isEnough ? [] : missing.map((provider) => reasonOf(provider, providers.length))),
      ];
    },
    /** The registrations that no login can be started with, whether or not the relay is ready. */
    unavailable: (): readonly string[] => unavailable().map(({ name }) => name),
  };
}

/** A relay with several providers names the registration. */
function reasonOf({ name, missing }: AwaitedProvider, providers: number): string {
  return providers === 1 ? `${missing()}` : `${missing()} (${name})`;
}
