import { expect } from 'chai';
import { home, useClient } from './support/client-under-test.ts';
import { failureOf, goOnline, keptRecords } from './support/fake-page.ts';
import { invalidToken } from './support/fake-relay.ts';

describe('the client in session mode', () => {
  const client = useClient('session');
  const refused = { status: 401, body: { error: 'session_refused' } };

  it('starts with the page to return to, and without a challenge', async () => {
    client().page.href = `${home}list?page=2#third`;
    const { state, ...parameters } = Object.fromEntries(
      await client().start(client().open(), { prompt: 'select_account' }),
    );
    expect(state).to.match(/^[\w-]{22,}$/);
    expect(parameters).to.deep.equal({
      client_id: 'app',
      scope: '',
      prompt: 'select_account',
      login_hint: '',
      return_to: `${home}list?page=2#third`,
    });
  });

  it('is logged in once the browser has the cookie, and keeps nothing itself', async () => {
    const login = await client().logIn();
    expect(login.session).to.include({ provider: 'provider' });
    expect(client().page.sessionStorage).to.deep.equal({});
    expect(keptRecords()).to.deep.equal([]);
  });

  it('ends the cookie if a refresh is refused twice, and revokes nothing', async () => {
    const login = await client().logIn();
    client().server.next['/api/user'] = [invalidToken, invalidToken];
    client().server.next['/auth/session/refresh'] = [refused, refused];
    expect(await login.user()).to.equal(null);
    expect(login.session).to.equal(null);
    expect(client().server.hasCookie).to.equal(false);
    expect(client().server.revocations).to.equal(0);
  });

  it('keeps the cookie of a login that ended in another tab during a refused refresh', async () => {
    const login = await client().logIn();
    client().server.next['/api/user'] = [invalidToken];
    client().server.next['/auth/session/refresh'] = [refused];
    expect(await login.user()).to.deep.equal({ login: 'ada' });
    expect(login.session).not.to.equal(null);
    expect(client().server.count('POST /auth/logout')).to.equal(0);
  });

  it('refreshes a token that has ended although another tab has restored the login meanwhile', async () => {
    const login = await client().logIn();
    const { promise: late, resolve: send } = Promise.withResolvers<object>();
    client().server.next['/api/user'] = [late];
    const user = login.user();
    await client().open().ready;
    send(invalidToken);
    expect(await user).to.deep.equal({ login: 'ada' });
    expect(client().server.grants).to.deep.equal(['refresh_token']);
  });

  it('keeps the cookie after a second refusal if another tab has logged in meanwhile', async () => {
    const login = await client().logIn();
    const { promise: late, resolve: send } = Promise.withResolvers<object>();
    client().server.next['/api/user'] = [invalidToken, late];
    const user = login.user();
    await new Promise((resolve) => login.onChange(resolve));
    const told = new Promise((resolve) => login.onChange(resolve));
    await client().logInElsewhere();
    await told;
    send(invalidToken);
    await user;
    expect(login.session).not.to.equal(null);
    expect(client().server.hasCookie).to.equal(true);
  });

  it('is logged out without a further request if the cookie is missing', async () => {
    const login = await client().logIn();
    client().server.hasCookie = false;
    expect(await login.user()).to.equal(null);
    expect(login.session).to.equal(null);
    expect(client().server.requests.at(-1)?.line).to.equal('POST /auth/session/refresh');
  });

  it('restores the login once the device is online', async () => {
    await client().logIn();
    client().server.isOffline = true;
    const login = client().load();
    const told = new Promise((resolve) => {
      login.onChange((session, reason) => session && resolve(reason));
    });
    expect(await failureOf(login.ready)).to.include({ code: 'network' });
    expect(login.session).to.equal(undefined);
    client().server.isOffline = false;
    goOnline();
    expect(await told).to.equal('login');
  });

  it('logs out, and tells the address of the provider’s own logout', async () => {
    const login = await client().logIn();
    expect(await login.logout()).to.equal('https://provider.example.com/logout');
    expect(login.session).to.equal(null);
    expect(client().server.hasCookie).to.equal(false);
  });

  it('stays logged in if the relay does not answer the logout', async () => {
    const login = await client().logIn();
    client().server.next['/auth/logout'] = [new TypeError('Failed to fetch')];
    expect(await failureOf(login.logout())).to.include({ code: 'network' });
    expect(login.session).not.to.equal(null);
  });
});
