import {
  type FlagChanges,
  type RelayUnderTest,
  relayUnderTest,
} from '../../support/relay-under-test.ts';
import type { ClientRegistration } from '../../support/strict-provider.ts';
import { expectNoneRemembered } from './fake-browser.ts';

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
