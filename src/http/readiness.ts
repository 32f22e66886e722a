/** Why a relay cannot take logins now. */
type NotReady = 'stopping' | MissingProvider;

/** Why the relay cannot call the provider. */
type MissingProvider = 'provider_undiscovered' | 'provider_unsupported';

/** Whether a relay should get new requests. */
export interface Readiness {
  /** The reasons why not; empty if the relay is ready. */
  reasons(): readonly NotReady[];
  /** Set once, when the relay begins to stop. */
  stopping: boolean;
}

/** @param missingProvider why no login can be sent to the provider, if none can */
export function createReadiness(missingProvider: () => MissingProvider | undefined): Readiness {
  return {
    stopping: false,
    reasons() {
      const reasons: NotReady[] = [];
      if (this.stopping) reasons.push('stopping');
      const missing = missingProvider();
      if (missing !== undefined) reasons.push(missing);
      return reasons;
    },
  };
}
