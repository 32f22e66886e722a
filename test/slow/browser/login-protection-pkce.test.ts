import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import {
  authorize,
  type LoginSite,
  startLogin,
  useLoginSite,
} from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

describe('a provider that requires PKCE, in Chromium', () => {
  const openPage = useBrowser();

  async function logIn(site: LoginSite): Promise<Page> {
    const page = await openPage();
    await page.goto(site.frontEnd);
    await startLogin(page);
    await authorize(page, 'Ada Lovelace');
    return page;
  }

  describe('with the verifier that belongs to the challenge', () => {
    const site = useLoginSite({ pkceRequired: true });

    it('logs in, with S256 and a new verifier each time', async () => {
      const verifiers = new Set();
      for (const round of [0, 1]) {
        const page = await logIn(site());
        await page.getByRole('button', { name: 'Log out' }).waitFor();
        const verifier = site().tokenCalls[round]?.form.get('code_verifier') ?? '';
        expect(verifier).to.match(/^[\w-]{43}$/);
        verifiers.add(verifier);
        const { location } = await site().exchange(
          ({ location }) => location?.includes(challengeOf(verifier)) === true,
        );
        const request = new URL(location ?? '').searchParams;
        expect(request.get('code_challenge')).to.equal(challengeOf(verifier));
        expect(request.get('code_challenge_method')).to.equal('S256');
        expect(location).to.not.contain(verifier);
      }
      expect(verifiers.size).to.equal(2);
    });
  });

  describe('with the verifier replaced in transit', () => {
    const site = useLoginSite({
      pkceRequired: true,
      tamper: (form) => form.set('code_verifier', 'x'.repeat(43)),
    });

    it('refuses the code at the provider, and the relay says so', async () => {
      const page = await logIn(site());
      await page.waitForURL(`${site().callbackUrl}?**`);
      expect(await page.locator('body').textContent()).to.equal(
        JSON.stringify({
          detail:
            'Token retrieval failed: the provider refused the authorization code. Start the login again.',
        }),
      );
      expect(site().callbacks.map(({ outcome }) => outcome)).to.deep.equal(['code_refused']);
      expect(site().tokenCalls.map(({ status }) => status)).to.deep.equal([400]);
      expect(site().tokenCalls[0]?.body).to.contain('"error":"invalid_grant"');
      await screenshot(page, 'pkce-code-refused');
    });
  });

  describe('with login protection off', () => {
    const site = useLoginSite({ pkceRequired: true, flags: { stateCheck: 'off' } });

    it('refuses the authorization request, which has no challenge', async () => {
      const page = await openPage();
      await page.goto(site().frontEnd);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL(`${site().callbackUrl}?**`);
      const [callback] = site().callbacks;
      expect(callback?.url.searchParams.get('error_description')).to.contain('PKCE');
      expect(callback?.outcome).to.equal('authorization_refused');
      expect(site().tokenCalls).to.deep.equal([]);
    });
  });
});

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
