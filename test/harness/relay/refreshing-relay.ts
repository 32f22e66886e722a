import { expectNoneRemembered } from '../expect/canaries.ts';
import { RefreshingProvider } from '../provider/refreshing-provider.ts';
import { startedOnce } from '../system/started-once.ts';
import type { Relay } from './relay.ts';
import type { Flags } from './relay-process.ts';
import { useRelays } from './relay-under-test.ts';

interface RefreshingRelay {
  readonly provider: RefreshingProvider;
  readonly relay: Relay;
}

/**
 * One relay and one refreshing provider for the enclosing `describe`. The provider is reset before every test. At the
 * end, the log is searched for all secrets that browsers got.
 *
 * @returns `startRelay` starts further relays, as {@link useRelays} does
 */
export function useRefreshingRelay(flags: () => Flags | Promise<Flags>): {
  readonly underTest: () => RefreshingRelay;
  readonly startRelay: ReturnType<typeof useRelays>;
} {
  const startRelay = useRelays();
  const underTest = startedOnce(
    'a provider and a relay',
    async () => {
      const provider = await RefreshingProvider.start();
      const client = provider.registration;
      const relay = await startRelay({ client, flags: { ...provider.flags, ...(await flags()) } });
      return { provider, relay };
    },
    async ({ provider, relay }) => {
      await provider.stop();
      expectNoneRemembered(relay.process.stdout + relay.process.stderr);
    },
  );
  beforeEach(() => underTest().provider.forget());
  return { startRelay, underTest };
}
