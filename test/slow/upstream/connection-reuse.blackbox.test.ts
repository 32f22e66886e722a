import { expect } from 'chai';
import { keepAliveAgent } from '../../harness/client/http-client.ts';
import { manyAtOnce } from '../../harness/client/many-at-once.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectToken, expectUser } from '../../harness/expect/expectations.ts';
import { callbackPath, relayUnderTest, userPath } from '../../harness/relay/relay-under-test.ts';

describe('connections to the provider', () => {
  const underTest = relayUnderTest({ 'provider-timeout': '5' });
  const agent = keepAliveAgent(32);
  after('close the connections of the client', () => agent.destroy());

  async function logIn(code = canary('code')): Promise<string> {
    return expectToken(await underTest().send({ path: `${callbackPath}?code=${code}`, agent }));
  }

  async function lookUp(): Promise<unknown> {
    const token = canary('token');
    const answered = await underTest().send({
      path: userPath,
      headers: [['Authorization', `Bearer ${token}`]],
      agent,
    });
    expect(expectUser(answered)).to.include({ login: `owner-of-${token}` });
    return token;
  }

  it('cause no failed login or lookup and no spent code if they close after 5 ms of idleness', async function () {
    this.timeout(60_000);
    const { provider } = underTest();
    provider.closeIdleAfter = 5;
    const before = provider.connections;
    const codes: string[] = [];
    // The pause makes each request coincide with the end of its connection.
    const pause = (index: number) => new Promise((resolve) => setTimeout(resolve, 3 + (index % 5)));
    await manyAtOnce(4000, 16, async (index) => {
      await pause(index);
      if (index % 2 === 0) {
        await lookUp();
        return;
      }
      const code = canary('code');
      codes.push(code);
      expect(await logIn(code)).to.equal(provider.tokenFor(code));
    });
    expect(codes).to.have.lengthOf(2000);
    expect(provider.credentials('token').toSorted()).to.deep.equal(codes.toSorted());
    expect(provider.credentials('user')).to.have.lengthOf(2000);
    // The test is valid only if some connections were closed and others were reused.
    expect(provider.connections - before).to.be.greaterThan(100);
    expect(provider.calls.some((call) => call.requestOnConnection > 1)).to.equal(true);
  });
});
