import { expectNoneRemembered } from '../browser/fake-browser.ts';
import type { ClientRegistration } from '../provider/strict-provider.ts';
import { type FlagChanges, type RelayUnderTest, relayUnderTest } from './relay-under-test.ts';

/** A relay under test whose log is searched, at its end, for everything that browsers were given. */
export function protectedRelay(
  flags: FlagChanges = {},
  client: Partial<ClientRegistration> = {},
): () => RelayUnderTest {
  const underTest = relayUnderTest(flags, client);
  after('no state, cookie or challenge is in the log', () => {
    const { stdout, stderr } = underTest().process;
    expectNoneRemembered(stdout + stderr);
  });
  return underTest;
}
