import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../src/failures/relay-error.ts';
import { callback, FakeBrowser } from '../harness/browser/fake-browser.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { issuer, redirectUri } from '../harness/login/oauth-front-end.ts';
import { sealLogin } from '../harness/login/sealed-login.ts';
import { failedCallbacks, key, openFailedCallback } from '../harness/provider/failed-callbacks.ts';
import { frontendOrigin, type RelayUnderTest, relayUnderTest, secretFile } from '../harness/relay/relay-under-test.ts';

const oauth = { redirectUri, codeChallenge: 'c'.repeat(43) };
const state = 'own & "state" – ✓';

/** Failures without a state that names the origin of the login. */
const withoutState: ReadonlySet<FailureCode> = new Set(['state_missing', 'state_altered']);

describe('the callback of an OAuth login', () => {
  const underTest = relayUnderTest(async () => ({ 'key-file': await secretFile(key) }));
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = new FakeBrowser(underTest);
  });

  function sealed(relay: RelayUnderTest, age = 0) {
    const login = sealLogin(relay.provider, { key, age, frontEndState: state, oauth });
    browser.cookies.set(login.cookie.name, login.cookie.value);
    return login;
  }

  for (const [kind, failing] of Object.entries(failedCallbacks)) {
    const { failure, detail, onToken, age } = failing;
    // The code is not exchanged here.
    if (onToken !== undefined) continue;
    const isForgotten = kind === 'the provider refuses and forgets the state';
    if (withoutState.has(failure) || isForgotten) {
      it(`is answered in place if ${kind}`, async () => {
        const { provider } = underTest();
        const answer = await openFailedCallback(failing, sealed(underTest()), browser, provider);
        expectError(answer, new RelayError(failure).status);
      });
      continue;
    }
    it(`redirects with an error if ${kind}`, async () => {
      const { provider } = underTest();
      const login = sealed(underTest(), age);
      const answer = await openFailedCallback(failing, login, browser, provider);
      const location = expectRedirect(answer);
      expect(Object.fromEntries(location.searchParams)).to.deep.equal({
        error: new RelayError(failure).oauthError,
        error_description: detail ?? new RelayError(failure).detail,
        state,
        iss: issuer,
        request_id: answer.headers['x-request-id'],
      });
      expect(location.origin + location.pathname).to.equal(redirectUri);
      expect(provider.calls).to.deep.equal([]);
    });
  }

  it('redirects a failure only to a redirect URI of the front end, whatever its state claims', async () => {
    for (const elsewhere of ['https://evil.example/', `${redirectUri}x`, 'javascript:alert(1)']) {
      const claim = { redirectUri: elsewhere, codeChallenge: 'c'.repeat(43) };
      for (const by of [key, 'a key that only the attacker knows, of 32']) {
        const forged = sealLogin(underTest().provider, { key: by, oauth: claim });
        browser.cookies.set(forged.cookie.name, forged.cookie.value);
        const answer = await browser.open(callback({ state: forged.state, code: forged.code }));
        expect(answer.headers).not.to.have.property('location');
        if (by !== key) {
          expect(expectError(answer, 400)).to.equal(new RelayError('state_altered').detail);
          continue;
        }
        // The page expects a code, so a login of the contract would not reach it.
        const { links, detail } = expectFailurePage(answer, 400);
        expect(detail).to.equal(new RelayError('redirect_uri_unknown').detail);
        expect(links).to.deep.equal({ [`Back to ${new URL(frontendOrigin).host}`]: redirectUri });
      }
    }
  });
});
