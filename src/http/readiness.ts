/** Why a relay cannot take logins right now. */
type NotReady = 'stopping' | 'provider_undiscovered';

/** Whether a relay should get new requests. */
export interface Readiness {
  /** Why it should not; empty while it is ready. */
  reasons(): readonly NotReady[];
  /** Set once, when the relay begins to stop. */
  stopping: boolean;
}

/** @param providerKnown whether the provider's addresses are known by now */
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
