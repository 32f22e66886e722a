import { OAuth2Client, OAuth2HttpError } from '@badgateway/oauth2-client';
import { expect } from 'chai';
import { OperationProcessingError } from 'oauth4webapi';
import { type ProviderMood, RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { baseUrl, loginPath, type Relay, useRelays } from '../harness/relay/relay-under-test.ts';
import { type LoginProvider, logInWithoutPages, startRelayFor } from './support/login-providers.ts';
import { OAuthPage } from './support/oauth4webapi-page.ts';
import { pageFetch } from './support/page-fetch.ts';

describe('a refresh while the provider has trouble', () => {
  const startRelay = useRelays();
  let provider: RefreshingProvider;
  let logins: LoginProvider;
  let relay: Relay;
  const target = () => relay;

  before('start the provider and the relay', async () => {
    provider = await RefreshingProvider.start();
    const { registration: client, flags } = provider;
    logins = {
      client,
      flags,
      logIn: logInWithoutPages(provider),
      tokenCalls: () => provider.calls.length,
      close: () => provider.stop(),
    };
    relay = await startRelayFor(logins, startRelay, { 'refresh-tokens': 'bearer' });
  });
  beforeEach(() => provider.forget());
  after(() => provider.stop());

  const troubles: Readonly<Record<string, ProviderMood['trouble']>> = {
    'answers 503': 503,
    'resets the connection': 'reset',
    'answers with a page': 'nonsense',
  };
  for (const [what, trouble] of Object.entries(troubles)) {
    it(`fails in oauth4webapi if it ${what}, and works later with the same refresh token`, async () => {
      const page = await OAuthPage.open(target);
      const tokens = await page.logIn(target, logins);
      provider.mood.trouble = trouble;
      const error = await page.refresh(tokens).catch((thrown: unknown) => thrown);
      // An invalid_grant, which ends the login, would be a ResponseBodyError.
      if (!(error instanceof OperationProcessingError)) throw error;
      expect(error.cause)
        .to.be.instanceOf(Response)
        .with.property('status')
        .that.is.within(500, 504);
      provider.forget();
      expect((await page.refresh(tokens)).access_token).to.be.a('string');
    });

    it(`fails in @badgateway/oauth2-client if it ${what}, and works later`, async () => {
      const tokens = await (await OAuthPage.open(target, 'no key')).logIn(target, logins);
      const library = new OAuth2Client({
        clientId: 'app',
        tokenEndpoint: `${baseUrl}${loginPath}/token`,
        fetch: pageFetch(target),
      });
      const token = {
        accessToken: tokens.access_token,
        refreshToken: tokens.refresh_token ?? '',
        expiresAt: null,
      };
      provider.mood.trouble = trouble;
      const error = await library.refreshToken(token).catch((thrown: unknown) => thrown);
      if (!(error instanceof OAuth2HttpError)) throw error;
      expect(error.oauth2Code).to.be.oneOf(['temporarily_unavailable', 'server_error']);
      provider.forget();
      expect((await library.refreshToken(token)).accessToken).to.be.a('string');
    });
  }
});
