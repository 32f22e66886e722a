import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../harness/system/eventually.ts';
import { home, useClient, userUrl } from './support/client-under-test.ts';
import { failureOf, freeze, keptRecords, leave } from './support/fake-page.ts';
import { invalidToken, relay } from './support/fake-relay.ts';

describe('the client with tokens', () => {
  const client = useClient();
  const tokenCalls = () => client().server.count('POST /auth/provider/token');

  /** Starts a login at this page, and returns the address that it comes back to. */
  async function start(path = ''): Promise<string> {
    client().page.href = home + path;
    return client().comesBackTo(await client().start(client().open()));
  }

  it('starts with a challenge whose verifier redeems the code', async () => {
    const login = client().open({ redirectUri: `${home}in`, scope: 'read' });
    const started = await client().start(login, { loginHint: 'ada@example.com' });
    const { code_challenge: challenge, state, ...parameters } = Object.fromEntries(started);
    expect(state).to.match(/^[\w-]{22,}$/);
    expect(parameters).to.deep.equal({
      client_id: 'app',
      scope: 'read',
      prompt: '',
      login_hint: 'ada@example.com',
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${home}in`,
    });
    await client().load(client().comesBackTo(started)).ready;
    const verifier = client().server.requests[0]?.form['code_verifier'] ?? '';
    expect(verifier).to.match(/^[\w-]{43,128}$/);
    expect(createHash('sha256').update(verifier).digest('base64url')).to.equal(challenge);
  });

  for (const path of ['list?page=2#/third', '?code=1&state=of-the-page']) {
    it(`goes back to /${path}, where the login started, before it redeems the code`, async () => {
      client().load(await start(path));
      expect(client().page.visits.at(-1)).to.equal(home + path);
      expect(client().server.requests).to.deep.equal([]);
      const login = client().load(home + path);
      await login.ready;
      expect(login.session?.accessToken).to.equal('access-1');
      expect(client().page.href).to.equal(home + path);
    });
  }

  it('ignores answers that this tab has not asked for, and takes them off the address', async () => {
    for (const forged of ['code=code&state=forged', 'error=access_denied&state=forged', 'code=code']) {
      const login = client().load(`${home}?${forged}&iss=${encodeURIComponent(relay)}`);
      expect(await login.ready).to.equal(null);
      expect(client().page.href).to.equal(home);
    }
    expect(client().server.requests).to.deep.equal([]);
  });

  it('finishes a login although a forged answer came before its own', async () => {
    const address = await start();
    await client().load(`${home}?code=code&state=forged&iss=${encodeURIComponent(relay)}`).ready;
    expect(await client().load(address).ready).to.include({ accessToken: 'access-1' });
  });

  it('keeps keys that scripts cannot read, and the tokens only sealed', async () => {
    await client().logIn();
    const [kept] = keptRecords() as [[CryptoKeyPair, CryptoKey, ArrayBuffer]];
    const [{ privateKey }, sealKey, sealed] = kept;
    expect([privateKey.extractable, sealKey.extractable]).to.deep.equal([false, false]);
    expect(Buffer.from(sealed).toString('latin1')).not.to.match(/access-|refresh-/);
  });

  it('restores the login in a load and in a new tab without a call while its token is good', async () => {
    const first = await client().logIn();
    const calls = tokenCalls();
    for (const login of [client().load(), client().open()]) {
      expect(await login.ready).to.include({ accessToken: 'access-1', scope: 'read' });
      expect(await login.user()).to.deep.equal({ login: 'ada' });
      expect(await login.token()).to.equal('access-1');
    }
    expect(tokenCalls()).to.equal(calls);
    expect(await first.token()).to.equal('access-1');
  });

  it('gives a token that is valid now, and null if nobody is logged in', async () => {
    expect(await client().open().token()).to.equal(null);
    client().server.expiresIn = -1;
    const login = await client().logIn();
    client().server.isOffline = true;
    expect(await failureOf(login.token())).to.include({ code: 'network' });
    client().server.isOffline = false;
    client().server.expiresIn = 3600;
    expect(await Promise.all([login.token(), login.token()])).to.deep.equal(['access-2', 'access-2']);
    await login.logout();
    expect(await login.token()).to.equal(null);
  });

  it('takes the token that another tab has got, without a call', async () => {
    const login = await client().logIn();
    freeze();
    client().server.next['/api/user'] = [invalidToken];
    await client().open().user();
    const calls = tokenCalls();
    client().server.next['/api/user'] = [invalidToken];
    expect((await login.fetch(userUrl)).status).to.equal(200);
    expect(await login.token()).to.equal('access-2');
    expect(tokenCalls()).to.equal(calls);
  });

  it('stays logged out if the message of an earlier refresh is late', async () => {
    const login = await client().logIn();
    const { session } = login;
    await login.logout();
    const tabs = new BroadcastChannel(`login-relay ${relay} app`);
    tabs.postMessage({ session, reason: 'refresh' });
    const last = new Promise((resolve) => login.onChange(resolve));
    tabs.postMessage({ session: null, reason: 'logout' });
    expect(await last).to.equal(null);
    tabs.close();
  });

  it('comes back in no tab after a logout if the browser keeps no keys', async () => {
    client().page.keepsNoKeys = true;
    const login = await client().logIn();
    const other = client().open();
    await other.ready;
    const told = new Promise((resolve) => login.onChange(resolve));
    await other.logout();
    await told;
    expect(await login.user()).to.equal(null);
  });

  it('logs the next person in with another key', async () => {
    const keys: unknown[] = [];
    for (const _ of ['ada', 'bob']) {
      await (await client().logIn()).user();
      const [[pair]] = keptRecords() as [[CryptoKeyPair]];
      keys.push(await crypto.subtle.exportKey('jwk', pair.publicKey));
    }
    expect(keys[0]).not.to.deep.equal(keys[1]);
  });

  it('is logged in until the page is left if the browser keeps no keys', async () => {
    client().page.keepsNoKeys = true;
    const login = await client().logIn();
    expect(await login.user()).to.deep.equal({ login: 'ada' });
    expect(await client().load().ready).to.equal(null);
  });

  it('sends the body again', async () => {
    const login = await client().logIn();
    client().server.next['/other'] = [{ status: 401 }, {}];
    await login.fetch('https://login.example.com/other', { method: 'POST', body: 'a=b' });
    const sent = client().server.requests.filter(({ line }) => line === 'POST /other');
    expect(sent.map(({ form }) => form)).to.deep.equal([{ a: 'b' }, { a: 'b' }]);
  });

  it('ends the login if the relay refuses to refresh it', async () => {
    const login = await client().logIn();
    client().server.token = 7;
    expect(await login.user()).to.equal(null);
    expect(login.session).to.equal(null);
    expect(keptRecords()).to.deep.equal([undefined]);
  });

  it('keeps the login and the name over a load of the page while the relay does not answer, even if the token has ended', async () => {
    client().server.expiresIn = -1;
    await (await client().logIn()).user();
    client().server.isOffline = true;
    const login = client().load();
    expect(await login.ready).not.to.equal(null);
    expect(await login.user()).to.deep.equal({ login: 'ada' });
    expect(await failureOf(login.token())).to.include({ code: 'network' });
    client().server.isOffline = false;
    client().server.next['/api/user'] = [{ body: { login: 'ada king' } }];
    const told = new Promise((resolve) => {
      login.onChange((_, reason) => reason === 'user' && resolve(0));
    });
    expect(await login.user()).to.deep.equal({ login: 'ada' });
    await told;
    const after = client().load();
    expect(await after.user()).to.deep.equal({ login: 'ada king' });
    expect(JSON.stringify(keptRecords())).not.to.contain('king');
  });

  it('proves its key by the clock of the relay if the clock of the device is wrong', async () => {
    client().server.now = () => Date.now() + 3_600_000;
    const login = await client().logIn();
    expect(login.session?.accessToken).to.equal('access-1');
    // The answer that refuses the proof has the time.
    expect(tokenCalls()).to.equal(2);
    client().server.next['/api/user'] = [invalidToken];
    await login.user();
    expect(tokenCalls()).to.equal(3);
  });

  it('proves its key with the newest nonce, and asks again only if it is too old', async () => {
    client().server.expiresIn = -1;
    const login = await client().logIn();
    expect(tokenCalls()).to.equal(1);
    for (const [late, calls] of [
      [0, 2],
      [600_000, 4],
    ] as const) {
      client().server.now = () => Date.now() + late;
      await login.token();
      expect(tokenCalls()).to.equal(calls);
    }
  });

  for (const [what, prepare] of Object.entries({
    'the relay gives no refresh token': () => {
      client().server.refreshes = false;
    },
    'the browser keeps no keys': () => {
      client().page.keepsNoKeys = true;
    },
  })) {
    it(`keeps the login after a 401 of an API if ${what}`, async () => {
      prepare();
      const login = await client().logIn();
      client().server.next['/other'] = [invalidToken, invalidToken];
      expect((await login.fetch('https://login.example.com/other')).status).to.equal(401);
      expect(await login.user()).to.deep.equal({ login: 'ada' });
    });
  }

  it('gives up if the relay refuses every proof', async () => {
    const address = await start();
    const refused = { status: 400, body: { error: 'invalid_dpop_proof' } };
    client().server.next['/auth/provider/token'] = [refused, refused];
    expect(await failureOf(client().load(address).ready)).to.include({
      code: 'invalid_dpop_proof',
    });
  });

  it('logs out, and revokes the newest refresh token', async () => {
    const login = await client().logIn();
    await login.logout();
    expect(login.session).to.equal(null);
    expect(keptRecords()).to.deep.equal([undefined]);
    // The page does not wait for the revocation.
    await eventually(async () =>
      expect(client().server.requests.at(-1)).to.deep.equal({
        line: 'POST /auth/provider/revoke',
        form: { client_id: 'app', token: 'refresh-1' },
      }),
    );
  });

  it('logs out even if the relay does not answer', async () => {
    const login = await client().logIn();
    client().server.next['/auth/provider/revoke'] = [new TypeError('Failed to fetch')];
    await login.logout();
    expect(login.session).to.equal(null);
  });

  it('redeems the code once if it is created twice, as in StrictMode', async () => {
    const address = await start();
    leave();
    client().page.href = address;
    const first = client().open();
    const second = client().open();
    await Promise.all([first.ready, second.ready]);
    const codes = client().server.grants.filter((grant) => grant === 'authorization_code');
    expect(codes).to.have.lengthOf(1);
    for (const login of [first, second]) {
      expect(await login.user()).to.deep.equal({ login: 'ada' });
    }
  });
});
