import { hash } from 'node:crypto';
import { expect } from 'chai';
import { callback, expectLogin, FakeBrowser, type Login } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectToken } from '../harness/expect/expectations.ts';
import { relayUnderTest } from '../harness/relay/relay-under-test.ts';

describe('PKCE (RFC 7636)', () => {
  const underTest = relayUnderTest();
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = new FakeBrowser(underTest);
  });

  /** Finishes the login; answers the verifier that came with its code. */
  async function verifierOf(login: Login): Promise<string> {
    underTest().provider.forget();
    expectLogin(underTest(), await browser.finish(login), login);
    const [call, ...others] = underTest().provider.calls;
    expect(others).to.deep.equal([]);
    return call?.codeVerifier ?? '';
  }

  it('uses a verifier once, and never the cookie or the state themselves', async () => {
    const logins = [await browser.start(), await browser.start(), await browser.start()];
    const verifiers = new Set<string>();
    for (const login of logins) verifiers.add(await verifierOf(login));
    expect(verifiers.size).to.equal(logins.length);
    for (const { state, cookie } of logins) {
      for (const value of [state, cookie.value, hash('sha256', cookie.value, 'base64url')]) {
        expect(verifiers).not.to.include(value);
      }
    }
  });

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
