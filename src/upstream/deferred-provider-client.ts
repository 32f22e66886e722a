import type { ProviderClient } from './client.ts';

/** A client that is made a little later than the rest. */
export interface DeferredProviderClient extends ProviderClient {
  /** Makes it now, so that no call has to wait for that. */
  prepare(): void;
}

/**
 * A client that is made when it is prepared or first called: its libraries take longer to load than
 * all else that a relay needs to answer the start of a login.
 */
export function deferProviderClient(make: () => Promise<ProviderClient>): DeferredProviderClient {
  let making: Promise<ProviderClient> | undefined;
  let client: ProviderClient | undefined;
  const made = () => {
    making ??= make().then(
      (ready) => {
        client = ready;
        return ready;
      },
      (error: unknown) => {
        // Its libraries could not be loaded, as where no descriptor is left: the next call tries again.
        making = undefined;
        throw error;
      },
    );
    return making;
  };
  return {
    prepare() {
      // A client that cannot be made fails the calls that need it.
      made().catch(() => {});
    },
    async call(request, observe) {
      return (client ?? (await made())).call(request, observe);
    },
    underWay: () => client?.underWay() ?? 0,
    close() {
      making?.then(
        (ready) => ready.close(),
        () => {},
      );
    },
  };
}
