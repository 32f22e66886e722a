import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect, expectToken, expectUser } from '../harness/expect/expectations.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
  userPath,
} from '../harness/relay/relay-under-test.ts';

describe('the rate limit', () => {
  const underTest = relayUnderTest({ 'rate-limit': '3', 'metrics-port': '0' });

  function lookUp(): Promise<Answer> {
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${canary('token')}`],
      ['Origin', frontendOrigin],
    ];
    return underTest().send({ path: userPath, headers });
  }

  it('answers 429 beyond it, with a page for people and JSON for programs', async () => {
    expectToken(await underTest().logIn());
    expectUser(await lookUp());
    expectUser(await lookUp());
    underTest().provider.forget();

    const refused = await lookUp();
    expect(expectError(refused, 429)).to.contain('Too many requests');
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
    expect(refused.headers['access-control-allow-origin']).to.equal(frontendOrigin);
    expect(refused.headers['access-control-expose-headers']).to.contain('Retry-After');
    expectError(await underTest().logIn(), 429);
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('does not apply to requests that make no call to the provider', async () => {
    for (let time = 0; time < 5; time += 1) {
      expectRedirect(await underTest().get(loginPath));
      expect((await underTest().get('/healthz')).status).to.equal(200);
      expect((await underTest().preflight(userPath)).status).to.equal(204);
    }
  });

  it('does not end a login, whose cookie and code stay valid', async () => {
    const answered = await underTest().send({
      path: `${callbackPath}?code=${canary('code')}&state=x`,
      headers: [['Cookie', '__Host-Http-lr_login_0123456789abcdef=x']],
    });
    expectError(answered, 429);
    expect(answered.headers).to.not.have.property('set-cookie');
  });

  it('is counted in a metric, and named in the log', async () => {
    await underTest().requestLine('rate_limited');
    const text = await underTest().metrics();
    expect(text).to.match(/login_relay_limits_hit_total\{limit="rate"\} [1-9]/);
  });
});
