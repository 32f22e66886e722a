/** Why a relay cannot take logins now. */
type NotReady = 'stopping' | 'provider_undiscovered';

/** Whether a relay should get new requests. */
export interface Readiness {
  /** The reasons why not; empty if the relay is ready. */
  reasons(): readonly NotReady[];
  /** Set once, when the relay begins to stop. */
  stopping: boolean;
}

/** @param providerKnown whether the provider's endpoints are known */
export function createReadiness(providerKnown: () => boolean): Readiness {
  return {
    stopping: false,
    reasons() {
      const reasons: NotReady[] = [];
      if (this.stopping) reasons.push('stopping');
      if (!providerKnown()) reasons.push('provider_undiscovered');
      return reasons;
    },
  };
}
