import { expect } from 'chai';
import type { FailureCode } from '../../src/failures/relay-error.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import {
  callback,
  expectLogin,
  expectRefusal,
  FakeBrowser,
  type Login,
  navigation,
  navigationWith,
} from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { callbackPath, loginPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

describe('login forgery', () => {
  const underTest = relayUnderTest();
  let attacker: FakeBrowser;
  let victim: FakeBrowser;
  beforeEach(() => {
    attacker = new FakeBrowser(underTest);
    victim = new FakeBrowser(underTest);
  });

  /** Checks that the victim's browser can finish the login. */
  async function expectFinished(login: Login): Promise<void> {
    expectLogin(underTest(), await victim.finish(login), login);
  }

  /** Checks for a refusal that changes no cookie. */
  function expectUntouched(answer: Answer, ...failures: [FailureCode, ...FailureCode[]]): void {
    expectRefusal(underTest(), answer, ...failures);
    expect(setCookies(answer)).to.deep.equal([]);
  }

  it('lets the browser that started a login finish it, once', async () => {
    const login = await victim.start();
    await expectFinished(login);
    expect(underTest().provider.credentials('token')).to.deep.equal([login.code]);
  });

  describe('is refused without spending the code if an attacker gives a victim', () => {
    it('a code without a state', async () => {
      const answer = await victim.open(callback({ code: canary('code') }));
      expectRefusal(underTest(), answer, 'state_missing');
    });

    it("the attacker's own valid state, while the victim's own login is pending", async () => {
      const own = await victim.start();
      expectUntouched(await victim.finish(await attacker.start()), 'state_unknown');
      await expectFinished(own);
    });

    it("the attacker's own valid state, and the victim has no cookie", async () => {
      expectRefusal(underTest(), await victim.finish(await attacker.start()), 'state_unknown');
    });

    it("the attacker's own valid state, over plain http, in a client with no sign of a browser", async () => {
      const answer = await victim.finish(await attacker.start(), { headers: [] });
      expectRefusal(underTest(), answer, 'state_unknown');
    });

    for (const whose of ['attacker', 'victim'] as const) {
      it(`the ${whose}'s state together with the cookie value of the other`, async () => {
        const own = await victim.start();
        const forged = await attacker.start();
        const [login, other] = whose === 'attacker' ? [forged, own] : [own, forged];
        victim.cookies.set(login.cookie.name, other.cookie.value);
        expectRefusal(underTest(), await victim.finish(login), 'state_altered');
      });
    }

    it('an authorization URL that the attacker started and the victim completed', async () => {
      const forged = await attacker.start();
      const code = underTest().provider.authorize(forged.authorizationRequest);
      expectRefusal(underTest(), await victim.finish({ ...forged, code }), 'state_unknown');
    });

    it("the attacker's state under the cookie name that plain http uses", async () => {
      const forged = await attacker.start();
      const plainName = forged.cookie.name.replace('__Host-Http-', '');
      victim.cookies.set(plainName, forged.cookie.value);
      expectRefusal(underTest(), await victim.finish(forged), 'state_unknown');
    });

    it('an error of the provider, with a foreign state', async () => {
      const own = await victim.start();
      const { state } = await attacker.start();
      const answer = await victim.open(callback({ error: 'access_denied', state }));
      expectUntouched(answer, 'state_unknown');
      await expectFinished(own);
    });
  });

  describe('a finished callback', () => {
    it('is still reported as finished after other logins', async () => {
      const first = await victim.start();
      const second = await victim.start();
      await expectFinished(second);
      await expectFinished(first);
      underTest().provider.forget();
      expectRefusal(underTest(), await victim.finish(second), 'state_finished');
      expectRefusal(underTest(), await victim.finish(first), 'state_finished');
    });

    it('is reported as unknown in every other browser', async () => {
      const login = await victim.start();
      await expectFinished(login);
      underTest().provider.forget();
      expectRefusal(underTest(), await attacker.finish(login), 'state_unknown');
    });
  });

  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`a callback by ${method} spends nothing, and the login can still be finished`, async () => {
      const login = await victim.start();
      const answer = await victim.finish(login, { method });
      expect(answer.status).to.equal(405);
      expect(answer.headers.allow).to.equal('GET, OPTIONS');
      expect(setCookies(answer)).to.deep.equal([]);
      if (method !== 'HEAD') expectError(answer, 405);
      expect(underTest().provider.calls).to.deep.equal([]);
      await expectFinished(login);
    });
  }

  describe('a prefetch', () => {
    for (const [name, value] of [
      ['Sec-Purpose', 'prefetch'],
      ['Sec-Purpose', 'prefetch;prerender'],
      ['Sec-Purpose', 'prefetch; anonymous-client-ip'],
      ['Purpose', 'prefetch'],
    ] as const) {
      const headers = navigationWith(name, value);

      it(`starts no login (${name}: ${value})`, async () => {
        const answer = await victim.open(loginPath, { headers });
        expectUntouched(answer, 'prefetch_refused');
        expect(answer.headers).to.have.property('retry-after');
      });

      it(`finishes no login, which can still be finished (${name}: ${value})`, async () => {
        const login = await victim.start();
        const answer = await victim.finish(login, { headers });
        expectUntouched(answer, 'prefetch_refused');
        await expectFinished(login);
      });
    }

    it('spends no code without a state', async () => {
      const answer = await underTest().send({
        path: callback({ code: canary('code') }),
        headers: [['Purpose', 'prefetch']],
      });
      expectRefusal(underTest(), answer, 'prefetch_refused');
    });

    it('is recognised by either header, whatever the other header says', async () => {
      const headers = navigationWith('Purpose', 'prefetch');
      const answer = await victim.open(loginPath, { headers: [...headers, ['Sec-Purpose', 'x']] });
      expectRefusal(underTest(), answer, 'prefetch_refused');
    });
  });

  for (const destination of ['iframe', 'frame', 'embed', 'object', 'fencedframe']) {
    it(`a foreign page cannot finish a login inside an ${destination}, but it can be finished at top level`, async () => {
      const login = await victim.start();
      const headers = navigationWith('Sec-Fetch-Dest', destination);
      const answer = await victim.finish(login, { headers });
      expectUntouched(answer, 'callback_framed');
      await expectFinished(login);
    });
  }

  it('a state is refused that is not percent-encoded text, and the login can still be finished', async () => {
    const login = await victim.start();
    for (const state of ['%', '%zz', '%ff', '%c3', '%ed%a0%80', `${login.state}%`]) {
      const answer = await victim.open(`${callbackPath}?code=${login.code}&state=${state}`);
      expectRefusal(underTest(), answer, 'state_altered');
    }
    await expectFinished(login);
  });

  it('a state is accepted with equivalent percent-encoding', async () => {
    const login = await victim.start();
    const encoded = Buffer.from(login.state).toString('hex').replace(/../g, '%$&');
    const answer = await victim.open(`${callbackPath}?code=${login.code}&state=${encoded}`);
    expectLogin(underTest(), answer, login);
  });

  it('two starts have different states, challenges and cookies', async () => {
    const logins = [await victim.start(), await victim.start(), await attacker.start()];
    const challengeOf = ({ authorizationRequest }: Login) => authorizationRequest.searchParams.get('code_challenge');
    for (const value of [
      ({ state }: Login) => state,
      ({ cookie }: Login) => cookie.name,
      ({ cookie }: Login) => cookie.value,
      challengeOf,
    ]) {
      expect(new Set(logins.map(value)).size).to.equal(logins.length);
    }
  });

  it('a login needs only the headers of a navigation to be finished', async () => {
    const login = await victim.start();
    const headers = navigation.filter(([name]) => name === 'User-Agent');
    expectLogin(underTest(), await victim.finish(login, { headers }), login);
  });
});

describe('the issuer in the callback', () => {
  // The issuer of the preset is known if its own authorization endpoint is used.
  const underTest = relayUnderTest({ 'authorize-url': undefined });

  it("is refused if it is an attacker's, or only similar", async () => {
    for (const iss of ['https://evil.example', '', 'https://github.com/login/oauth.evil.example']) {
      const browser = new FakeBrowser(underTest);
      const { searchParams } = expectRedirect(await browser.open(loginPath));
      const login = { state: searchParams.get('state') ?? '', code: canary('code') };
      const answer = await browser.open(callback({ ...login, iss }));
      expectRefusal(underTest(), answer, 'issuer_mismatch');
    }
  });
});
