import { expect } from 'chai';
import { eventually } from '../harness/system/eventually.ts';
import { cancelled, home, modes, useClient, userUrl } from './support/client-under-test.ts';
import { failureOf, freeze, reportedErrors, restoreFromCache } from './support/fake-page.ts';
import { invalidToken, relay } from './support/fake-relay.ts';

for (const [name, mode] of Object.entries(modes)) {
  describe(`a login with ${name}`, () => {
    const client = useClient(mode);
    const refreshes = () => client().server.grants.filter((grant) => grant === 'refresh_token').length;
    const refresh = mode ? '/auth/session/refresh' : '/auth/provider/token';

    it('finishes a login that comes back, and takes it off the address', async () => {
      const login = await client().logIn();
      expect(await login.user()).to.deep.equal({ login: 'ada' });
      expect(client().page).to.deep.include({ href: home, sessionStorage: {} });
    });

    it('rejects with the reason of a failed login, and takes it off the address', async () => {
      const started = await client().start(client().open());
      const login = client().load(client().comesBackTo(started, cancelled));
      expect(await failureOf(login.ready)).to.include({
        name: 'LoginError',
        code: 'access_denied',
        message: 'You cancelled.',
        requestId: 'request-7',
      });
      expect(client().page).to.deep.include({ href: home, sessionStorage: {} });
    });

    it('keeps an earlier login if a new login fails', async () => {
      const started = await client().start(await client().logIn());
      const login = client().load(client().comesBackTo(started, cancelled));
      await failureOf(login.ready);
      expect(await login.user()).to.deep.equal({ login: 'ada' });
    });

    it('comes back to the last of several starts at once', async () => {
      const login = client().open();
      login.login().catch(() => {});
      login.login().catch(() => {});
      await client().start(login);
      while (client().page.visits.length < 3) await new Promise((resolve) => setTimeout(resolve));
      const after = client().load(client().comesBackTo(client().page.start));
      expect(await after.ready).not.to.equal(null);
    });

    it('makes no user lookup if nobody is logged in', async () => {
      const login = client().open();
      expect(await login.ready).to.equal(null);
      expect(await login.user()).to.equal(null);
      expect((await login.fetch(userUrl)).status).to.equal(401);
      expect(client().server.count('GET /api/user')).to.equal(0);
    });

    it('refreshes a token that has ended, once for all requests, and sends them again', async () => {
      const login = await client().logIn();
      client().server.next['/api/user'] = [invalidToken, invalidToken, invalidToken];
      const answers = await Promise.all([1, 2, 3].map(() => login.fetch(userUrl)));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      expect(refreshes()).to.equal(1);
    });

    it('looks the user up once, however often the page asks', async () => {
      const login = await client().logIn();
      login.onChange(() => void login.user());
      expect(await Promise.all([login.user(), login.user()])).to.have.lengthOf(2);
      expect(await login.user()).to.deep.equal({ login: 'ada' });
      expect(client().server.count('GET /api/user')).to.equal(1);
    });

    it('answers with the record that it has, looks the user up behind, and tells all tabs of another record', async () => {
      const login = await client().logIn();
      await login.user();
      client().server.next['/api/user'] = [invalidToken, { body: { login: 'countess' } }];
      await login.fetch(userUrl);
      const other = client().open();
      await other.ready;
      const told = [login, other].map((tab) => {
        return new Promise((resolve) => tab.onChange((_, reason) => reason === 'user' && resolve(0)));
      });
      client().server.next['/api/user'] = [{ body: { login: 'ada king' } }];
      expect(await login.user()).to.deep.equal({ login: 'ada' });
      await Promise.all(told);
      for (const tab of [login, other]) {
        expect(await tab.user()).to.deep.equal({ login: 'ada king' });
      }
      expect(client().server.count('GET /api/user')).to.equal(4);
    });

    it('ends the login if the provider refuses also the token of a refresh, and revokes nothing', async () => {
      const login = await client().logIn();
      client().server.next['/api/user'] = [invalidToken, invalidToken];
      expect(await login.user()).to.equal(null);
      expect(login.session).to.equal(null);
      expect(await client().load().ready).to.equal(null);
      expect(refreshes()).to.equal(1);
      expect(client().server.revocations).to.equal(0);
    });

    it('hands the 401 of an API to the page after one refresh, and does not end the login', async () => {
      const login = await client().logIn();
      for (let time = 0; time < 3; time += 1) {
        client().server.next['/other'] = [invalidToken, invalidToken];
        const { status } = await login.fetch('https://login.example.com/other');
        expect(status).to.equal(401);
      }
      expect(refreshes()).to.equal(1);
      expect(await login.user()).to.deep.equal({ login: 'ada' });
      expect(client().server.revocations).to.equal(0);
    });

    it('survives a user endpoint that fails while many pages look the user up at every load', async () => {
      await client().logIn();
      client().server.userEndpointFails = true;
      const before = client().server.grants.length;
      const tabs = Array.from({ length: 10 }, () => client().open());
      for (const tab of tabs) {
        tab.onChange(() => tab.user().catch(() => {}));
        expect(await failureOf(tab.user()))
          .to.have.property('code')
          .that.match(/^http_(401|502)$/);
      }
      expect(client().server.grants.length).to.be.at.most(before + tabs.length);
      client().server.userEndpointFails = false;
      for (const tab of tabs) expect(await tab.user()).to.deep.equal({ login: 'ada' });
      expect(client().server.revocations).to.equal(0);
    });

    it('says that a login came back from another issuer, and takes it off the address', async () => {
      const started = await client().start(client().open());
      const parameters = {
        code: 'code',
        state: started.get('state') ?? '',
        iss: 'https://evil.example',
      };
      const login = client().load(`${home}?${new URLSearchParams(parameters)}`);
      expect(await failureOf(login.ready)).to.include({ code: 'issuer_wrong' });
      expect(client().page).to.deep.include({ href: home, sessionStorage: {} });
      expect(client().server.grants).to.deep.equal([]);
    });

    for (const [link, left] of Object.entries({
      '?access_token=evil&state=x&page=2': '?state=x&page=2',
      '?access_token=evil#part': '#part',
      '#access_token=evil&state=x': '',
      '#/list?access_token=evil': '',
    })) {
      it(`removes the token of a link from the address, and does not log in with it: ${link}`, async () => {
        const login = client().load(home + link);
        expect(client().page.href).to.equal(home + left);
        expect(await login.ready).to.equal(null);
      });
    }

    it('refreshes once before it ends, even if the page looks the user up at every change', async () => {
      const login = await client().logIn();
      const { promise: late, resolve: send } = Promise.withResolvers<object>();
      const refused = invalidToken;
      client().server.next['/api/user'] = [refused, refused, late, refused, refused];
      const ended = new Promise<void>((resolve) => {
        login.onChange(async (session) => {
          await login.user();
          if (session === null) resolve();
        });
      });
      const user = login.user();
      await ended;
      send(refused);
      expect(await user).to.equal(null);
      expect(refreshes()).to.equal(1);
    });

    for (const [what, answer] of Object.entries({
      missing: new TypeError('Failed to fetch'),
      'no JSON': { text: '<h1>Log in to the Wi-Fi</h1>' },
      empty: { status: 204, text: null },
    })) {
      it(`keeps the login if the answer to a refresh is ${what}`, async () => {
        const login = await client().logIn();
        client().server.next['/api/user'] = [invalidToken];
        client().server.next[refresh] = [answer];
        expect(await failureOf(login.user())).to.include({ code: 'network' });
        expect(await login.user()).to.deep.equal({ login: 'ada' });
        expect(await client().load().ready).not.to.equal(null);
      });
    }

    it('keeps the login if only the lookup fails', async () => {
      const login = await client().logIn();
      const detail = 'The provider is down.';
      client().server.next['/api/user'] = [
        { status: 502, body: { detail } },
        { status: 502, text: '<h1>Bad gateway</h1>' },
      ];
      const failure = { code: 'http_502', requestId: 'request-1' };
      expect(await failureOf(login.user())).to.include({ ...failure, message: detail });
      expect(await failureOf(login.user())).to.include(failure);
      expect(login.session).not.to.equal(null);
    });

    it('passes on that a request was aborted', async () => {
      const login = await client().logIn();
      const error = await login.fetch(userUrl, { signal: AbortSignal.abort() }).catch(({ name }: Error) => name);
      expect(error).to.equal('AbortError');
    });

    it('has no user if the person logs out during the lookup', async () => {
      const login = await client().logIn();
      const { promise: answer, resolve: send } = Promise.withResolvers<object>();
      client().server.next['/api/user'] = [answer];
      const user = login.user();
      await login.logout();
      send({ body: { login: 'ada' } });
      expect(await user).to.equal(null);
    });

    it('can log out before it is ready, and twice', async () => {
      await client().logIn();
      const login = client().load();
      await Promise.all([login.logout(), login.logout(), login.ready]);
      expect(login.session).to.equal(null);
      expect(await client().load().ready).to.equal(null);
    });

    it('tells listeners once when it is ready, and at every change', async () => {
      const login = client().open();
      const seen: boolean[] = [];
      login.onChange((session) => seen.push(session !== null));
      await login.ready;
      await login.user();
      const after = client().load(client().comesBackTo(await client().start(login)));
      const stop = after.onChange((session) => seen.push(session !== null));
      await after.ready;
      // Frameworks compare it.
      expect(after.session).to.equal(after.session);
      await after.logout();
      stop();
      await after.logout();
      expect(seen).to.deep.equal([false, true, false]);
    });

    it('looks for the login of now when the back button restores the page, without a refresh', async () => {
      const login = await client().logIn();
      const changed = new Promise((resolve) => {
        login.onChange((_, reason) => resolve(reason));
      });
      freeze();
      await client().logInElsewhere();
      restoreFromCache();
      expect(await changed).to.equal('login');
      expect(refreshes()).to.equal(0);
    });

    it('says why the session changes, in all tabs', async () => {
      const tabs = [await client().logIn(), client().open()];
      await Promise.all(tabs.map((tab) => tab.ready));
      const seen = tabs.map((tab) => {
        const reasons: unknown[] = [];
        tab.onChange((_, reason) => reasons.push(reason));
        return reasons;
      });
      const told = (...reasons: string[]) =>
        eventually(async () => {
          expect(seen).to.deep.equal([reasons, reasons]);
        });
      client().server.next['/api/user'] = [invalidToken];
      await tabs[0]?.user();
      const reasons = ['refresh', 'user'];
      await told(...reasons);
      await tabs[1]?.logout();
      await told(...reasons, 'logout');
      tabs.push(await client().logInElsewhere());
      await told(...reasons, 'logout', 'login');
      client().server.next['/api/user'] = [invalidToken, invalidToken];
      await tabs[2]?.user();
      await told(...reasons, 'logout', 'login', 'refresh', 'ended');
    });

    it('sends nothing to an address that is not of the relay or of apis', async () => {
      await client().logIn();
      const login = client().open({ apis: ['https://api.example.com/'] });
      await login.fetch('https://api.example.com/items');
      const before = client().server.requests.length;
      for (const address of [
        'https://evil.example.com/',
        '/items',
        'http://api.example.com/',
        'data:,x',
        'https://api.example.com.evil.example/',
        'https://api.example.com:444/',
      ]) {
        const url = new URL(address, home);
        expect(await failureOf(login.fetch(url))).to.include({ code: 'address_not_allowed' });
      }
      expect(client().server.requests).to.have.lengthOf(before);
    });

    it('shows the present person if somebody else has logged in during the lookup', async () => {
      const login = await client().logIn();
      const { promise: late, resolve: send } = Promise.withResolvers<object>();
      client().server.next['/api/user'] = [late, { body: { login: 'bob' } }];
      const user = login.user();
      const told = new Promise((resolve) => login.onChange(resolve));
      await client().logInElsewhere();
      await told;
      send({ body: { login: 'ada' } });
      expect(await user).to.deep.equal({ login: 'bob' });
    });

    it('does not repeat the request of one person as another person', async () => {
      const login = await client().logIn();
      const { promise: late, resolve: send } = Promise.withResolvers<object>();
      client().server.next['/items'] = [late];
      const answer = login.fetch('https://login.example.com/items', { method: 'POST', body: 'a' });
      const told = new Promise((resolve) => login.onChange(resolve));
      await client().logInElsewhere();
      await told;
      send(invalidToken);
      expect((await answer).status).to.equal(401);
      expect(client().server.count('POST /items')).to.equal(1);
    });

    it('does not wait in many requests for a relay that does not answer', async () => {
      const login = await client().logIn();
      const lookUps = Array.from({ length: 5 }, () => invalidToken);
      client().server.next['/api/user'] = lookUps;
      const { promise: late, resolve: send } = Promise.withResolvers<object>();
      client().server.next[refresh] = [late];
      const before = client().server.count(`POST ${refresh}`);
      const users = Promise.all(lookUps.map(() => failureOf(login.user())));
      const calls = () => client().server.count(`POST ${refresh}`) - before;
      await eventually(async () => expect(calls()).to.equal(1));
      send(new TypeError('Failed to fetch'));
      for (const failure of await users) expect(failure).to.include({ code: 'network' });
      expect(calls()).to.equal(1);
    });

    it('says when the token ends, and what it does, without a secret', async () => {
      const said: unknown[] = [];
      const debug = (...words: unknown[]) => void said.push(...words);
      const login = await client().logIn({ debug });
      await login.user();
      expect(login.session?.expiresAt).to.be.closeTo(Date.now() + 3_600_000, 60_000);
      expect(said).to.include.members(['login', 'user']);
      expect(JSON.stringify(said)).not.to.match(/access-|refresh-|code/);
    });

    for (const [option, wrong] of Object.entries({
      relay: [undefined, '', 'login.example.com/auth/provider', 'https://login.example.com/'],
      mode: ['cookie'],
      scopes: ['read'],
      clientId: [undefined, ''],
      resource: ['', 'notes.example.com/mcp', ...(mode ? ['https://notes.example.com/'] : [])],
      apis: [['api.example.com'], ['https://api.example.com/v1'], ['data:,']],
    })) {
      it(`names the option ${option} if it is missing or wrong`, () => {
        for (const value of wrong) {
          expect(() => client().open({ [option]: value })).to.throw(TypeError, option);
        }
      });
    }

    it('accepts a slash at the end of the relay', async () => {
      await client().logIn();
      const login = client().open({ relay: `${relay}/` });
      expect(await login.user()).to.deep.equal({ login: 'ada' });
    });

    it('fails with a code if the browser blocks storage', async () => {
      client().page.blocksStorage = true;
      const login = client().open();
      for (const action of [login.ready, login.login(), login.user(), login.logout()]) {
        expect(await failureOf(action)).to.include({ code: 'storage_blocked' });
      }
      expect(login.session).to.equal(undefined);
      expect(client().page.visits).to.deep.equal([]);
    });

    it('refuses to return to another site', async () => {
      const login = client().open();
      for (const returnTo of [
        'https://attacker.example.com/',
        'https://app.example.com.attacker.example.com/',
        'javascript:alert(1)',
        'blob:https://app.example.com/1',
        'https://user@app.example.com/',
        '//attacker.example.com',
      ]) {
        const failure = await failureOf(login.login({ returnTo }));
        expect(failure).to.include({ code: 'return_to_invalid' });
      }
      expect(client().page.visits).to.deep.equal([]);
    });
  });
}

describe('a login with a listener that throws', () => {
  const client = useClient();

  it('works, tells the other listeners, and lets the browser report the error', async () => {
    const login = await client().logIn();
    const bug = new Error('a bug of the page');
    login.onChange(() => {
      throw bug;
    });
    const told = new Promise((resolve) => login.onChange(resolve));
    await login.logout();
    expect(await told).to.equal(null);
    expect(reportedErrors()).to.deep.equal([bug]);
  });
});
