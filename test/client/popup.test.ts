import { expect } from 'chai';
import { cancelled, home, modes, useClient } from './support/client-under-test.ts';
import { FakePage, failureOf, show } from './support/fake-page.ts';

for (const [name, mode] of Object.entries(modes)) {
  describe(`a login in a popup with ${name}`, () => {
    const client = useClient(mode);
    let popup: FakePage;
    beforeEach(() => {
      popup = new FakePage('about:blank');
      client().page.popup = popup;
    });

    it('logs in the page that opened it, and closes', async () => {
      const login = client().open();
      await login.ready;
      const changed = new Promise((resolve) => login.onChange(resolve));
      popup.href = client().comesBackTo(await client().start(login, { popup: true }));
      show(popup);
      await client().open().ready;
      await changed;
      expect(await login.user()).to.deep.equal({ login: 'ada' });
      expect(popup).to.include({ closed: true, href: home });
      expect(client().page).to.deep.include({ closed: false, visits: [] });
    });

    it('tells the page how the login ended, and closes', async () => {
      const login = client().open();
      for (const [failure, code] of [
        [cancelled, 'access_denied'],
        [undefined, undefined],
      ] as const) {
        show(client().page);
        const done = login.login({ popup: true }).then(
          () => undefined,
          (error: { code: string }) => error.code,
        );
        const { length } = popup.visits;
        while (popup.visits.length === length) await new Promise((go) => setTimeout(go));
        popup.href = client().comesBackTo(popup.start, failure);
        popup.closed = false;
        show(popup);
        await client()
          .open()
          .ready.catch(() => {});
        expect(await done).to.equal(code);
        expect(popup.closed).to.equal(true);
      }
    });

    it('rejects once the person has closed it, but not while it has the focus', async () => {
      const login = client().open();
      let failed = false;
      const done = failureOf(login.login({ popup: true })).finally(() => {
        failed = true;
      });
      client().page.hasFocus = false;
      // With COOP, an open popup looks closed.
      popup.closed = true;
      await new Promise((resolve) => setTimeout(resolve, 1200));
      expect(failed).to.equal(false);
      client().page.hasFocus = true;
      expect(await done).to.include({ code: 'popup_closed' });
    });

    it('goes to the login as usual if the browser blocks the popup', async () => {
      client().page.popup = null;
      const started = await client().start(client().open(), { popup: true });
      const after = client().load(client().comesBackTo(started));
      await after.ready;
      expect(after.session).not.to.equal(null);
      expect(client().page.closed).to.equal(false);
    });
  });
}
