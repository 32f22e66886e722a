import { expect } from 'chai';
import { callback, FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { baseUrl, callbackPath, frontendOrigin, loginPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

const installed = { installation_id: '1', setup_action: 'install' };

for (const errorDelivery of ['json', 'page', 'redirect']) {
  describe(`a callback that is no login, with --error-delivery ${errorDelivery}`, () => {
    const underTest = relayUnderTest({ 'error-delivery': errorDelivery });
    let browser: FakeBrowser;
    beforeEach(() => {
      browser = new FakeBrowser(underTest);
    });

    for (const [parameters, heading, outcome] of [
      [{ code: canary('code'), ...installed }, 'The app is installed', 'app_installed'],
      [{ code: canary('code'), ...installed, setup_action: 'update' }, 'The app is installed', 'app_installed'],
      [{ setup_action: 'request' }, 'An owner has to approve', 'app_requested'],
    ] as const) {
      it(`has a separate page, and spends nothing, after setup_action=${parameters.setup_action}`, async () => {
        const calls = underTest().provider.calls.length;
        const answer = await browser.open(callback(parameters));
        const page = expectFailurePage(answer, 400);
        expect(page.heading).to.equal(heading);
        expect(page.links['Log in again']).to.equal(baseUrl + loginPath);
        expect((await underTest().lineOf(answer))['outcome']).to.equal(outcome);
        expect(underTest().provider.calls).to.have.length(calls);
      });
    }

    it('stays a login if it has the state of a login', async () => {
      const { state, code } = await browser.start();
      const location = expectRedirect(await browser.open(callback({ state, code, ...installed })));
      expect(location.href).to.match(new RegExp(`^${frontendOrigin}/\\?access_token=`));
    });

    it('says that something removes queries if it has none', async () => {
      const answer = await browser.open(callbackPath);
      expect((await underTest().lineOf(answer))['outcome']).to.equal('query_missing');
      const program = await underTest().get(callbackPath);
      if (errorDelivery === 'json') expectError(program, 400);
      const text = `${program.body} ${decodeURIComponent(program.headers.location ?? '')}`;
      expect(text).to.contain('removes the query');
    });
  });
}
