import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectRedirect, expectUser } from '../harness/expect/expectations.ts';
import { expectFailure } from '../harness/expect/failures.ts';
import { expectOAuthError, oauthStart, openStart, tokenPath } from '../harness/login/oauth-front-end.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
  userPath,
} from '../harness/relay/relay-under-test.ts';

describe('a request with too many parameters', () => {
  const underTest = relayUnderTest();
  const parameters = (count: number) => 'x=%ff&'.repeat(count).slice(0, -1);

  it('is refused at the start of a login, which serves 100', async () => {
    expectRedirect(await underTest().get(`${loginPath}?${parameters(100)}`));
    expectFailure(await underTest().get(`${loginPath}?${parameters(101)}`), 'parameters_too_many');
  });

  it('is refused at a callback, and the front end of the login is told', async () => {
    const browser = new FakeBrowser(underTest);
    const state = expectRedirect(await openStart(browser, oauthStart())).searchParams.get('state');
    const answer = await browser.open(`${callbackPath}?state=${state}&code=a&${parameters(99)}`);
    expect(expectRedirect(answer).searchParams.get('error')).to.equal('invalid_request');
  });

  it('is refused at the user lookup, which serves 100', async () => {
    const lookUp = (count: number) =>
      underTest().send({
        path: `${userPath}?${parameters(count)}`,
        headers: [['Authorization', `Bearer ${canary('token')}`]],
      });
    expectUser(await lookUp(100));
    expectFailure(await lookUp(101), 'parameters_too_many');
    expectFailure(await underTest().get(`${userPath}?${parameters(101)}`), 'credentials_missing');
  });

  it('is refused at the token endpoint, as OAuth clients read it', async () => {
    const post = (count: number) =>
      underTest().send({
        method: 'POST',
        path: tokenPath,
        headers: [
          ['Origin', frontendOrigin],
          ['Content-Type', 'application/x-www-form-urlencoded'],
        ],
        body: parameters(count),
      });
    expectOAuthError(await post(100), 'invalid_client');
    const refused = await post(101);
    expectOAuthError(refused, 'invalid_request', 400);
    expect(`${refused.body}`).to.contain('more than 100 parameters');
  });
});
