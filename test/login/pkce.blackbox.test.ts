import { hash } from 'node:crypto';
import { expect } from 'chai';
import { callback, expectLogin, FakeBrowser, type Login } from '../harness/browser/fake-browser.ts';
import { send } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectToken } from '../harness/expect/expectations.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { registration, relayUnderTest } from '../harness/relay/relay-under-test.ts';

describe('PKCE (RFC 7636)', () => {
  for (const tokenRequest of ['query', 'body', 'basic'] as const) {
    describe(`with the token request in the ${tokenRequest}`, () => {
      const underTest = relayUnderTest({ 'token-request': tokenRequest }, { tokenRequest });
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

      it('sends a verifier of 43 characters to the S256 challenge that it sent before', async () => {
        const login = await browser.start();
        const { searchParams } = login.authorizationRequest;
        const verifier = await verifierOf(login);
        expect(verifier).to.match(/^[\w-]{43}$/);
        expect(searchParams.get('code_challenge_method')).to.equal('S256');
        expect(searchParams.get('code_challenge')).to.equal(hash('sha256', verifier, 'base64url'));
      });

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
    });
  }

  describe('if a code is injected into the login of another person', () => {
    const underTest = relayUnderTest();

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

// The tests above only work if the provider refuses these.
describe('the strict provider, with a code that was issued to a challenge,', () => {
  let provider: StrictProvider;
  beforeEach(async () => {
    provider = await StrictProvider.start(registration());
  });
  afterEach(() => provider.stop());

  const verifier = 'v'.repeat(43);

  function authorize(challenge: Record<string, string>): string {
    const { clientId: client_id, redirectUri: redirect_uri } = provider.registration;
    const url = new URL(provider.authorizeUrl);
    const parameters = { response_type: 'code', client_id, redirect_uri, ...challenge };
    url.search = new URLSearchParams(parameters).toString();
    return provider.authorize(url);
  }

  async function exchange(code: string, more: Record<string, string>): Promise<number> {
    const { clientId, clientSecret, redirectUri } = provider.registration;
    const query = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uri: redirectUri,
      code,
      ...more,
    });
    const { status } = await send(provider.port, {
      method: 'POST',
      path: `${new URL(provider.tokenUrl).pathname}?${query}`,
      headers: [
        ['Accept', 'application/json'],
        ['User-Agent', 'test'],
        ['Content-Length', '0'],
      ],
    });
    return status;
  }

  const challenge = {
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
  };

  it('accepts the verifier', async () => {
    expect(await exchange(authorize(challenge), { code_verifier: verifier })).to.equal(200);
    expect(provider.violations).to.deep.equal([]);
  });

  for (const [kind, parameters] of Object.entries<Record<string, string>>({
    'no verifier': {},
    'another verifier': { code_verifier: 'w'.repeat(43) },
    'the challenge': { code_verifier: challenge.code_challenge },
    'a verifier that is too short': { code_verifier: 'v'.repeat(42) },
    'a verifier of other characters': { code_verifier: 'v'.repeat(42).concat('+') },
  })) {
    it(`refuses and remembers ${kind}`, async () => {
      expect(await exchange(authorize(challenge), parameters)).to.equal(400);
      expect(provider.violations).to.have.lengthOf(1);
    });
  }

  it('remembers a challenge that is not S256', async () => {
    authorize({ ...challenge, code_challenge_method: 'plain' });
    expect(provider.violations).to.have.lengthOf(1);
  });

  it('refuses and remembers a verifier to a code without a challenge', async () => {
    expect(await exchange(authorize({}), { code_verifier: verifier })).to.equal(400);
    expect(provider.violations).to.have.lengthOf(1);
  });
});
