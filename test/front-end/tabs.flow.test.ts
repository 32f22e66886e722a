import { expect } from 'chai';
import { type Relay, useRelays } from '../harness/relay/relay-under-test.ts';
import {
  certifiedProvider,
  githubProvider,
  type LoginProvider,
  mockProvider,
  startRelayFor,
} from './support/login-providers.ts';
import { OAuthPage } from './support/oauth4webapi-page.ts';

const tabs = 20;

for (const [name, start] of Object.entries({
  'oidc-provider, which detects a second use': certifiedProvider,
  'oauth2-mock-server': mockProvider,
  'GitHub, where each refresh token works once': githubProvider,
})) {
  describe(`${tabs} tabs with one refresh token and one key, at ${name}`, () => {
    const startRelay = useRelays();
    let provider: LoginProvider;
    let relay: Relay;
    const target = () => relay;

    before('start the provider and the relay', async () => {
      provider = await start();
      relay = await startRelayFor(provider, startRelay);
    });
    after(() => provider.close());

    it('refresh at once with one call to the provider and 20 good answers, and all stay logged in', async () => {
      const page = await OAuthPage.open(target);
      let tokens = await page.logIn(target, provider);
      const pages = Array.from({ length: tabs }, () => page.anotherTab());
      for (let round = 1; round <= 3; round += 1) {
        const before = provider.tokenCalls();
        const { refresh_token } = tokens;
        const answers = await Promise.all(pages.map((tab) => tab.refresh(tokens)));
        // The result of the first round is repeated to the others, because it is new.
        expect(provider.tokenCalls()).to.equal(round === 1 ? before + 1 : before);
        expect(new Set(answers.map(({ access_token }) => access_token))).to.have.lengthOf(1);
        for (const answer of answers) {
          expect(await page.lookUp(answer)).to.equal(200);
          expect(answer.refresh_token).to.be.a('string').and.not.equal(refresh_token);
        }
        // The next round begins with the tokens that one of the tabs has stored last.
        tokens = answers[round] ?? tokens;
      }
    });

    it('refresh one after the other with the first refresh token, and get the same tokens', async () => {
      const page = await OAuthPage.open(target);
      const tokens = await page.logIn(target, provider);
      const before = provider.tokenCalls();
      for (let tab = 0; tab < tabs; tab += 1) {
        const refreshed = await page.anotherTab().refresh(tokens);
        expect(await page.lookUp(refreshed)).to.equal(200);
      }
      expect(provider.tokenCalls()).to.equal(before + 1);
    });
  });
}
