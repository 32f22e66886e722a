import { expect } from 'chai';
import type { FailureCode } from '../../src/failures/relay-error.ts';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { newProofKey } from '../harness/client/proof.ts';
import { canary, expectNoneRemembered, remember } from '../harness/expect/canaries.ts';
import {
  encoded,
  logInTo,
  type Parameters,
  redemption,
  requestToken,
  tokenPath,
} from '../harness/login/oauth-front-end.ts';
import { OAuthPage, type PageRequest, type Tokens, tokensOf } from '../harness/login/oauth-page.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import { callbackPath, keyFile, loginPath, type Relay } from '../harness/relay/relay-under-test.ts';

describe('the secrets of an OAuth login', () => {
  // This must run before the relay is stopped.
  after('nothing secret is in the log or the metrics', async () => {
    const metrics = await relay.metrics();
    expect(metrics).to.contain('route="/auth/provider/token"');
    expectNoneRemembered(metrics + relay.process.stdout + relay.process.stderr);
  });
  const { underTest } = useRefreshingRelay(async () => ({
    'key-file': await keyFile(),
    'metrics-port': '0',
    'log-level': 'debug',
  }));
  let provider: RefreshingProvider;
  let relay: Relay;
  let page: OAuthPage;

  before('a page has a key', async () => {
    ({ provider, relay } = underTest());
    page = new OAuthPage(relay, provider, await newProofKey());
  });

  /** The parameters of a redemption that would succeed, and the secrets in it. */
  async function goodRedemption(): Promise<Record<'code' | 'code_verifier', string>> {
    const response = await logInTo(new FakeBrowser(() => relay), { provider });
    const { code, start } = response;
    remember(start.state);
    return { ...redemption(response), code, code_verifier: start.codeVerifier };
  }

  /** Changes to the parameters of a redemption. */
  const changes: Readonly<Record<string, [FailureCode, (good: Parameters) => Parameters]>> = {
    'with the code as grant type': ['grant_unsupported', ({ code }) => ({ grant_type: `${code}` })],
    'that is too large': ['body_too_large', ({ code }) => ({ padding: `${code}`.repeat(80) })],
  };
  for (const [what, [outcome, changed]] of Object.entries(changes)) {
    it(`do not appear in the answer to a redemption ${what}`, async () => {
      const good = await goodRedemption();
      await expectFailure(outcome, await page.request({ ...good, ...changed(good) }));
    });
  }

  it('do not appear in the answer to a redemption that the provider quotes', async () => {
    const good = await goodRedemption();
    provider.mood.trouble = 'quotes';
    await expectFailure('token_refused', await page.request(good));
  });

  const redemptions: Readonly<Record<string, [FailureCode, (good: Parameters) => Promise<Answer>]>> = {
    'with a proof of another address': [
      'proof_invalid',
      (good) => page.request(good, { proof: { claims: { htu: `https://x.example/${good['code']}` } } }),
    ],
    'in the address': [
      'client_id_wrong',
      (good) => requestToken(relay, {}, [], { path: `${tokenPath}?${encoded(good)}` }),
    ],
    'by GET': ['method_not_allowed', (good) => relay.get(`${tokenPath}?${encoded(good)}`)],
    'below the endpoint': ['not_found', (good) => relay.get(`${tokenPath}/${good['code']}`)],
    'as a login of the provider': [
      'state_altered',
      ({ code }) => relay.get(`${callbackPath}?${encoded({ code, state: code })}`),
    ],
  };
  for (const [what, [outcome, act]] of Object.entries(redemptions)) {
    it(`do not appear in the answer to a redemption ${what}`, async () => {
      await expectFailure(outcome, await act(await goodRedemption()));
    });
  }

  const otherRequests: Readonly<Record<string, [FailureCode, (tokens: Tokens) => Promise<Answer>]>> = {
    'a refresh with a repeated proof': [
      'proof_invalid',
      async (tokens) => {
        const claims = { jti: canary('token') };
        tokensOf(await refresh(tokens, { proof: { claims } }));
        return await refresh(tokens, { proof: { claims } });
      },
    ],
    'a refresh with the token as scope': [
      'scope_refused',
      (tokens) => refresh(tokens, { parameters: { scope: tokens.refreshToken } }),
    ],
    'a revocation with two tokens': [
      'token_request_invalid',
      ({ refreshToken, accessToken }) => revoke([refreshToken, accessToken]),
    ],
    'a revocation in the address': [
      'method_not_allowed',
      ({ refreshToken }) => relay.get(`${loginPath}/revoke?token=${refreshToken}`),
    ],
    'a lookup with a refresh token': ['token_of_relay', ({ refreshToken }) => relay.lookUp(`Bearer ${refreshToken}`)],
  };
  for (const [what, [outcome, act]] of Object.entries(otherRequests)) {
    it(`do not appear in the answer to ${what}`, async () => {
      await expectFailure(outcome, await act(await page.logIn()));
    });
  }

  it('do not appear in the answer to a refresh that the provider quotes', async () => {
    const tokens = await page.logIn();
    provider.mood.trouble = 'quotes';
    await expectFailure('refresh_refused', await refresh(tokens));
  });

  it('do not include the refresh token of the provider for the front end', async () => {
    const { refreshToken } = await page.logIn();
    const { body } = await page.refresh(refreshToken);
    const [ofProvider = ''] = provider.credentials('refresh');
    expect(ofProvider).to.contain('token');
    expect(`${body}`).not.to.contain(ofProvider);
  });

  async function expectFailure(outcome: FailureCode, answer: Answer): Promise<void> {
    expect(answer.status).to.be.at.least(400);
    expectNoneRemembered(`${answer.rawHeaders.join('\n')}\n${answer.body}`);
    expect(await relay.lineOf(answer)).to.include({ outcome });
  }

  function refresh({ refreshToken }: Tokens, request: PageRequest = {}): Promise<Answer> {
    return page.refresh(refreshToken, request);
  }

  function revoke(token: string | string[]): Promise<Answer> {
    return requestToken(relay, { client_id: 'app', token }, [], { path: `${loginPath}/revoke` });
  }
});
