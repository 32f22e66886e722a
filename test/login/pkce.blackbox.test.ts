import { expect } from 'chai';
import { callback, FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectToken } from '../harness/expect/expectations.ts';
import { relayUnderTest } from '../harness/relay/relay-under-test.ts';

describe('PKCE (RFC 7636)', () => {
  const underTest = relayUnderTest();

  it('sends no verifier for a plain client that has no state', async () => {
    const code = canary('code');
    const token = expectToken(await underTest().get(callback({ code })));
    expect(token).to.equal(underTest().provider.tokenFor(code));
    expect(underTest().provider.calls[0]).not.to.have.property('codeVerifier');
  });

  describe('if a code is injected into the login of another person', () => {
    it('sends the verifier of that login, with which the provider refuses the code', async () => {
      const attacker = await new FakeBrowser(underTest).start();
      const victim = new FakeBrowser(underTest);
      const { state } = await victim.start();
      const answer = await victim.finish({ state, code: attacker.code });
      expectError(answer, 400);
      const { provider } = underTest();
      expect(provider.violations).to.deep.equal(['token call with another code_verifier']);
      expect(provider.tokenFor(attacker.code)).to.equal(undefined);
      provider.forget();
    });

    it('sends no verifier with an injected code that was issued to a challenge', async () => {
      const { code } = await new FakeBrowser(underTest).start();
      expectError(await underTest().get(callback({ code })), 400);
      const { provider } = underTest();
      expect(provider.violations).to.deep.equal(['token call without code_verifier']);
      expect(provider.tokenFor(code)).to.equal(undefined);
      provider.forget();
    });
  });
});
