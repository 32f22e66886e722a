import { expect } from 'chai';
import { newProofKey } from '../harness/client/proof.ts';
import { expectOAuthError } from '../harness/login/oauth-front-end.ts';
import { OAuthPage, tokensOf } from '../harness/login/oauth-page.ts';
import { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { type Relay, secretFile, useRelays } from '../harness/relay/relay-under-test.ts';

const line = 'the line of a key file with 32 characters or more';

describe('a page whose requests reach several replicas', () => {
  const startRelay = useRelays();
  let provider: RefreshingProvider;
  let pages: OAuthPage[];

  before('start a provider and three replicas', async () => {
    provider = await RefreshingProvider.start();
    const key = await newProofKey();
    const file = await secretFile(line);
    const start = (): Promise<Relay> =>
      startRelay({ client: provider.registration, flags: { ...provider.flags, 'key-file': file } });
    const replicas = await Promise.all([start(), start(), start()]);
    pages = replicas.map((replica) => new OAuthPage(replica, provider, key));
  });
  beforeEach(() => provider.forget());
  after('stop the provider', () => provider.stop());

  function at(replica: number): OAuthPage {
    const page = pages[replica % pages.length];
    if (page === undefined) throw new Error('there is no such replica');
    return page;
  }

  it('can refresh at any replica with its newest refresh token', async () => {
    let { refreshToken } = await at(0).logIn();
    for (let turn = 1; turn < 7; turn += 1) {
      ({ refreshToken } = tokensOf(await at(turn).refresh(refreshToken)));
    }
  });

  it('proves its key at any replica with the nonce of another one', async () => {
    const { refreshToken } = await at(0).logIn();
    provider.mood.rotation = 'keeps';
    const nonce = (await at(0).refresh(refreshToken)).headers['dpop-nonce'];
    const proof = { claims: { nonce } };
    for (const turn of [0, 1, 2]) tokensOf(await at(turn).refresh(refreshToken, { proof }));
  });

  it('is logged out if a late request reaches another replica, at a provider that detects reuse', async () => {
    // So short that no result is repeated for its own refresh token.
    provider.mood.expiresIn = 60;
    const { refreshToken } = await at(0).logIn();
    const renewed = tokensOf(await at(0).refresh(refreshToken));
    expect(tokensOf(await at(0).refresh(refreshToken)).accessToken).to.equal(renewed.accessToken);
    expectOAuthError(await at(1).refresh(refreshToken), 'invalid_grant');
    expectOAuthError(await at(0).refresh(renewed.refreshToken), 'invalid_grant');
  });

  it('stays logged in at a provider that does not rotate, at any replica', async () => {
    const { refreshToken } = await at(0).logIn();
    provider.mood.rotation = 'keeps';
    const answers = Array.from({ length: 20 }, (_, tab) => at(tab).refresh(refreshToken));
    for (const answer of await Promise.all(answers)) tokensOf(answer);
  });
});
