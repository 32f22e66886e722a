import { expectNoneRemembered } from '../expect/canaries.ts';
import { RefreshingProvider } from '../provider/refreshing-provider.ts';
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
  let underTest: RefreshingRelay | undefined;

  before('start a provider and a relay', async () => {
    const provider = await RefreshingProvider.start();
    const client = provider.registration;
    const relay = await startRelay({ client, flags: { ...provider.flags, ...(await flags()) } });
    underTest = { provider, relay };
  });
  beforeEach(() => underTest?.provider.forget());
  after('stop the provider; nothing secret is in the log', async () => {
    if (underTest === undefined) return;
    const { provider, relay } = underTest;
    await provider.stop();
    expectNoneRemembered(relay.process.stdout + relay.process.stderr);
  });
  return {
    startRelay,
    underTest() {
      if (underTest === undefined) throw new Error('the relay has not started');
      return underTest;
    },
  };
}
