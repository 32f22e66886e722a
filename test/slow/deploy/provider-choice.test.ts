import { expect } from 'chai';
import { ada, eve, ProvidersRelay, wiki } from '../../browsers/support/providers-relay.ts';
import { navigation } from '../../harness/browser/fake-browser.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from './support/balancer.ts';
import { type Application, headersIn, startApplication } from './support/guarded-application.ts';
import { browserGuards } from './support/kinds.ts';

let application: Application;
for (const [name, kind] of Object.entries(browserGuards(() => application.port))) {
  const { describe } = needsPrograms(kind.program);

  describe(`${name}, configured as in deploy, in front of a resource with several providers`, () => {
    let relay: ProvidersRelay;
    let proxy: Balancer;

    before('start them', async () => {
      [relay, application] = await Promise.all([ProvidersRelay.start(), startApplication()]);
      await relay.restart(relay.file());
      relay.provider.knows(json(ada));
      relay.second.knows(json(eve));
      proxy = await Balancer.start(kind, [relay.port]);
    });
    beforeEach(() => {
      application.heads.length = 0;
    });
    after('stop them', async () => {
      await proxy.stop();
      await Promise.all([relay.stop(), application.close()]);
    });

    for (const registration of ['provider', 'second'] as const) {
      it(`lets a person choose ${registration}, who is back at the page then, to the letter`, async () => {
        const person = relay.person(proxy.port);
        const page = await person.visit(`${wiki}/notes/a%20b?c=d&e=%2f`);
        expect(page.url.pathname).to.equal('/.login-relay/choose');
        expect([page.status, person.logins, application.heads]).to.deep.equal([200, 0, []]);
        const back = await person.press(page, 'provider', registration);
        expect([back.status, back.text]).to.deep.equal([200, 'ok']);
        expect(back.url.href).to.equal(`${wiki}/notes/a%20b?c=d&e=%2f`);
        const [head = ''] = application.heads;
        const headers = Object.fromEntries(headersIn(head).map(([header, value]) => [header.toLowerCase(), value]));
        expect(headers).to.include({ 'x-forwarded-user': `${registration}:42` });
        expect(head).not.to.match(/lr_/);
      });
    }

    it('passes no choice that another site sends, and no page to choose to the application', async () => {
      const person = relay.person(proxy.port);
      const answer = await person.open(`${wiki}/.login-relay/choose`, navigation, 'POST', 'provider=second');
      expect(answer.status).to.equal(403);
      expect((await person.open(`${wiki}/.login-relay/choose`)).status).to.equal(200);
      expect(application.heads).to.deep.equal([]);
    });
  });
}
