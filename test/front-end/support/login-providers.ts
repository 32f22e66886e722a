import type { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { signIn, startCertifiedProvider } from '../../harness/provider/certified-provider.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';
import { type Client, type Relay, secretFile, type useRelays } from '../../harness/relay/relay-under-test.ts';

/** A running provider, and how a person logs in there. */
export interface LoginProvider {
  readonly client: Client;
  /** The settings of the relay for this provider. */
  readonly flags: Flags;
  /** Opens the address of a login, logs in, and returns the address at the front end. */
  logIn(browser: FakeBrowser, authorizationUrl: URL): Promise<URL>;
  /** The number of calls to the token endpoint. */
  tokenCalls(): number;
  close(): Promise<void>;
}

const key = 'the-key-of-these-tests-and-no-others';

/** Starts a relay for the provider, with a key file, because refresh tokens need one. */
export async function startRelayFor(
  { client, flags }: LoginProvider,
  startRelay: ReturnType<typeof useRelays>,
  changes: Flags = {},
): Promise<Relay> {
  const all = { ...flags, 'key-file': await secretFile(key), ...changes };
  return await startRelay({ client, flags: all });
}

/** oidc-provider. It treats a second use of a refresh token as theft, and revokes all tokens. */
export async function certifiedProvider(): Promise<LoginProvider> {
  const client = { clientId: 'client-1', clientSecret: canary('secret') };
  const provider = await startCertifiedProvider({ client, refreshes: true });
  return {
    client,
    // Without it, there is no refresh token (OpenID Connect Core §11).
    flags: { issuer: provider.issuer, 'authorize-params': 'prompt=consent' },
    async logIn(browser, url) {
      return (await signIn(browser, await browser.visit(url.href), 'ada')).url;
    },
    tokenCalls: () => provider.tokenRequests.length,
    close: () => provider.close(),
  };
}
