import { expect } from 'chai';
import type { Identity } from '../../client/client.d.ts';
import { home, useClient } from './support/client-under-test.ts';
import { failureOf, keptRecords, leave } from './support/fake-page.ts';

const resource = 'https://notes.example.com/mcp';
const ada: Identity = { sub: '42', preferred_username: 'ada', groups: ['staff'] };

describe('the client with a login for a resource', () => {
  const client = useClient();
  beforeEach('the relay says who the person is', () => {
    client().server.identity = ada;
  });

  it('has the identity in each load and tab, sealed, without a call', async () => {
    await client().logIn();
    expect(JSON.stringify(keptRecords())).not.to.contain('staff');
    for (const login of [client().load(), client().open()]) {
      expect(await login.user<Identity>()).to.deep.equal(ada);
    }
    expect(client().server.requests.map(({ line }) => line)).to.deep.equal(['POST /auth/provider/token']);
  });

  it('has the identity of the newest token, in all tabs', async () => {
    const tabs = [await client().logIn(), client().open()];
    await Promise.all(tabs.map((tab) => tab.user()));
    const changed = new Promise((resolve) => tabs[0]?.onChange(resolve));
    const next = { ...ada, groups: [] };
    client().server.identity = next;
    client().server.next['/other'] = [{ status: 401 }];
    await tabs[1]?.fetch('https://login.example.com/other');
    await changed;
    for (const tab of tabs) expect(await tab.user()).to.deep.equal(next);
  });

  it('names the resource at the start and at each token, and fetches from its origin', async () => {
    const started = await client().start(client().open({ resource }));
    expect(started.get('resource')).to.equal(resource);
    client().server.expiresIn = -1;
    const login = client().load(client().comesBackTo(started), { resource });
    await login.fetch('https://notes.example.com/other');
    const forms = client().server.requests.map(({ form }) => form['resource']);
    expect(forms).to.deep.equal([resource, resource, undefined]);
    const failure = await failureOf(login.fetch('https://other.example.com/'));
    expect(failure).to.include({ code: 'address_not_allowed' });
  });

  it('keeps the logins of a page for two resources apart', async () => {
    const other = { resource: 'https://files.example.com/' };
    await client().logIn({ resource });
    const started = await client().start(client().open(other));
    leave();
    client().page.href = client().comesBackTo(started);
    client().server.identity = { sub: '7' };
    const logins = [client().open({ resource }), client().open(other)];
    const people = await Promise.all(logins.map((login) => login.user()));
    expect(people).to.deep.equal([ada, { sub: '7' }]);
    expect(client().page.href).to.equal(home);
  });

  it('ends with its token if the relay gives no refresh token', async () => {
    client().server.refreshes = false;
    const login = await client().logIn();
    expect(await login.user()).to.deep.equal(ada);
    client().server.expiresIn = -1;
    const ended = await client().logIn();
    expect(await ended.token()).to.equal(null);
    expect(await ended.user()).to.equal(null);
    expect(await client().load().ready).to.equal(null);
  });

  it('ends if the relay gives the page no token for the resource any more', async () => {
    client().server.expiresIn = -1;
    const login = await client().logIn();
    client().server.next['/auth/provider/token'] = [{ status: 400, body: { error: 'invalid_target' } }];
    expect(await login.token()).to.equal(null);
    expect(login.session).to.equal(null);
  });
});
