import { expect } from 'chai';
import { cancelled, home, modes, useClient } from './support/client-under-test.ts';
import { FakePage, failureOf, freeze, receive, restoreFromCache, show } from './support/fake-page.ts';

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

    it('looks at the popup no more after it has ended', async () => {
      const login = client().open();
      await login.ready;
      const done = login.login({ popup: true });
      while (popup.visits.length === 0) await new Promise((go) => setTimeout(go));
      popup.href = client().comesBackTo(popup.start);
      show(popup);
      await client().open().ready;
      await done;
      let looks = 0;
      Object.defineProperty(popup, 'closed', {
        get() {
          looks += 1;
          return true;
        },
      });
      await new Promise((resolve) => setTimeout(resolve, 1300));
      expect(looks).to.equal(0);
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

describe('a popup of a frame of another site, which shares no storage with it', () => {
  const client = useClient();
  let popup: FakePage;
  beforeEach(() => {
    popup = new FakePage('about:blank');
    client().page.popup = popup;
    client().page.isFramed = true;
  });

  /** Logs in, up to the page of the popup, which finds nothing in its storage. Gives what it sends to its opener. */
  async function comeBack(failure?: Record<string, string>) {
    const login = client().open();
    await login.ready;
    const done = login.login({ popup: true });
    done.catch(() => {});
    while (popup.visits.length === 0) await new Promise((go) => setTimeout(go));
    const sent: [unknown, string][] = [];
    const inPopup = new FakePage(client().comesBackTo(popup.start, failure));
    inPopup.opener = { postMessage: (...message) => sent.push(message) };
    show(inPopup);
    await client().open().ready;
    show(client().page);
    expect(sent).to.have.lengthOf(1);
    const [message = []] = sent;
    const [data, target] = message;
    expect(target).to.equal('https://app.example.com');
    expect(inPopup.href).to.equal(home);
    return { login, done, data, start: popup.start };
  }

  it('hands the answer to the frame, which logs in and closes it', async () => {
    const { login, done, data } = await comeBack();
    receive({ source: popup, origin: 'https://app.example.com', data });
    await done;
    expect(popup.closed).to.equal(true);
    expect(await login.user()).to.deep.equal({ login: 'ada' });
  });

  it('hands a failure to it', async () => {
    const { done, data } = await comeBack(cancelled);
    receive({ source: popup, origin: 'https://app.example.com', data });
    expect(await failureOf(done)).to.include({ code: 'access_denied', requestId: 'request-7' });
  });

  it('is the only window that is heard, with the state of this login, from this origin and the relay', async () => {
    const { login, done, data, start } = await comeBack();
    const own = { source: popup, origin: 'https://app.example.com', data };
    const response = { code: 'stolen', state: start.get('state'), iss: 'https://evil.example/auth/provider' };
    receive({ ...own, source: new FakePage(home) });
    receive({ ...own, origin: 'https://evil.example' });
    receive({ ...own, data: { response: { ...response, state: 'another' } } });
    for (const nothing of [undefined, null, 'text', {}, { response: null }]) receive({ ...own, data: nothing });
    expect(popup.closed).to.equal(false);
    receive({ ...own, data: { response } });
    expect(await failureOf(done)).to.include({ code: 'issuer_wrong' });
    expect(login.session).to.equal(null);
  });

  it('says that the frame may be why, if it was closed', async () => {
    const login = client().open();
    const done = failureOf(login.login({ popup: true }));
    client().page.hasFocus = false;
    popup.closed = true;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    client().page.hasFocus = true;
    const { code, message } = await done;
    expect(code).to.equal('popup_closed');
    expect(message).to.include('frame');
  });
});

describe('a login in a frame of another site with a session cookie', () => {
  const client = useClient('session');

  it('says at once that it cannot, since browsers send no cookie there', async () => {
    client().page.isFramed = true;
    client().page.popup = new FakePage('about:blank');
    expect(await failureOf(client().open().login({ popup: true }))).to.include({ code: 'frame_foreign' });
    expect(client().page.popup?.visits).to.deep.equal([]);
  });
});

for (const [name, mode] of Object.entries(modes)) {
  describe(`a login with ${name} in a page that the person`, () => {
    const client = useClient(mode);

    it('leaves, and comes back to with the back button, rejects', async () => {
      const login = client().open();
      await login.ready;
      const both = [login.login(), login.login()].map(failureOf);
      while (client().page.visits.length < 2) await new Promise((go) => setTimeout(go));
      restoreFromCache();
      for (const failure of await Promise.all(both)) expect(failure).to.include({ code: 'login_left' });
    });

    it('comes back to after it has succeeded in another tab resolves', async () => {
      const login = client().open();
      await login.ready;
      const done = login.login();
      while (client().page.visits.length === 0) await new Promise((go) => setTimeout(go));
      freeze();
      await client().logInElsewhere();
      restoreFromCache();
      await done;
      expect(login.session).not.to.equal(null);
    });

    it('opens without https is told so', async () => {
      client().page.isSecure = false;
      const login = client().open();
      expect(await failureOf(login.ready)).to.include({ code: 'insecure_context' });
      expect(await failureOf(login.login())).to.include({ code: 'insecure_context' });
      expect(client().page.visits).to.deep.equal([]);
    });
  });
}
