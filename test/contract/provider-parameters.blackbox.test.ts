import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectRedirect, expectToken } from '../harness/expect/expectations.ts';
import { loginPath, type RelayUnderTest, relayUnderTest } from '../harness/relay/relay-under-test.ts';

async function authorizationRequest(relay: RelayUnderTest): Promise<URLSearchParams> {
  return expectRedirect(await relay.get(loginPath)).searchParams;
}

describe('the parameters that a provider gets', () => {
  describe('that the configuration names', () => {
    const underTest = relayUnderTest(
      {
        'authorize-params': 'prompt=select_account&audience=https%3A%2F%2Fapi.example%2F%3Fa%3Db%2526',
        'token-params': 'audience=https%3A%2F%2Fapi.example%2F%3Fa%3Db%2526&x=1+2',
      },
      {
        tokenParams: { audience: 'https://api.example/?a=b%26', x: '1 2' },
        clientSecret: `${canary('secret')} &=+%41:~/`,
      },
    );

    it('are decoded and encoded once', async () => {
      const request = await authorizationRequest(underTest());
      expect(request.get('prompt')).to.equal('select_account');
      expect(request.get('audience')).to.equal('https://api.example/?a=b%26');
      expect(request.get('client_id')).to.equal('client-1');
      for (const code of [canary('code'), 'a&b=c+d é']) {
        const token = expectToken(await underTest().logIn(code));
        expect(token).to.equal(underTest().provider.tokenFor(code));
      }
    });
  });

  for (const [what, flags] of [
    ['a state', {}],
    ['no state', { 'state-check': 'off' }],
  ] as const) {
    describe(`for a scope with openid and logins with ${what}`, () => {
      const underTest = relayUnderTest({ ...flags, scope: 'openid profile' });

      it('have a different nonce for each login', async () => {
        const nonces = new Set<string | null>();
        for (let login = 0; login < 3; login += 1) {
          nonces.add((await authorizationRequest(underTest())).get('nonce'));
        }
        expect(nonces.size).to.equal(3);
        for (const nonce of nonces) expect(nonce).to.match(/^[\w-]{22}$/);
      });
    });
  }

  describe('with PKCE off', () => {
    const underTest = relayUnderTest({ pkce: 'off' });

    it('have neither challenge nor verifier', async () => {
      const browser = new FakeBrowser(underTest);
      const login = await browser.start();
      const names = [...login.authorizationRequest.searchParams.keys()];
      expect(names).to.include('state').and.not.include('code_challenge');
      expectToken(await browser.finish(login));
      expect(underTest().provider.calls[0]).not.to.have.property('codeVerifier');
    });
  });
});
