import { expect } from 'chai';
import {
  chooseNonce,
  createAuthorizationUrls,
  withAccountWish,
  withLoginParameters,
} from '../../src/oauth/authorization-request.ts';
import type { ExtraParameters } from '../../src/providers/provider.ts';

const provider = { authorizeUrl: 'https://provider.example/authorize' };
const client = {
  clientId: 'id with&signs',
  callbackUri: 'https://login.example.com/auth/provider/callback',
};

describe('the authorization request', () => {
  describe('for a refresh token', () => {
    const needed = { access_type: 'offline', prompt: 'consent' };
    const refreshRequest = { scope: 'offline_access', parameters: Object.entries(needed) };
    const asked = (more: object, options: { scope?: string; refresh?: boolean }) => {
      const whole = { ...provider, refreshRequest, ...more };
      const { searchParams } = new URL(createAuthorizationUrls(client, whole)(options));
      const all = (name: string) => searchParams.getAll(name).join();
      return { scope: all('scope'), access_type: all('access_type'), prompt: all('prompt') };
    };

    it('has what the provider needs', () => {
      const options = { refresh: true };
      expect(asked({}, options)).to.deep.equal({ ...needed, scope: 'offline_access' });
      const scope = 'openid profile offline_access';
      expect(asked({ scope: 'openid profile' }, options)).to.deep.equal({ ...needed, scope });
    });

    it('has no scope or parameter twice', () => {
      const scope = 'offline_access openid';
      const authorizeParams: ExtraParameters = [['prompt', 'select_account']];
      const authorizeUrl = 'https://provider.example/authorize?access_type=online';
      const found = asked({ scope, authorizeParams, authorizeUrl }, { refresh: true });
      const own = { access_type: 'online', prompt: 'select_account' };
      expect(found).to.deep.equal({ ...own, scope });
    });

    it('has none of it if no refresh token is requested', () => {
      const scope = 'openid';
      const nothing = { scope, access_type: '', prompt: '' };
      expect(asked({ scope }, {})).to.deep.equal(nothing);
      expect(asked({ scope }, { refresh: false })).to.deep.equal(nothing);
      const plain = createAuthorizationUrls(client, provider)({ refresh: true });
      expect(plain).to.equal(createAuthorizationUrls(client, provider)());
    });

    it('has the narrower scope that the login requests', () => {
      const options = { scope: 'openid', refresh: true };
      expect(asked({ scope: 'openid profile' }, options).scope).to.equal('openid offline_access');
      expect(asked({ scope: 'a b' }, { scope: 'b' }).scope).to.equal('b');
    });
  });

  it('names the account that the person probably uses, instead of a configured account', () => {
    const url = 'https://provider.example/authorize?login_hint=eve&prompt=none';
    const wish = { loginHint: 'ada@example.com', otherAccount: true };
    const { searchParams } = new URL(withAccountWish(url, wish, { accountPrompt: 'login' }));
    expect(Object.fromEntries(searchParams)).to.deep.equal({
      login_hint: 'ada@example.com',
      prompt: 'login',
    });
    expect(withAccountWish(url, { otherAccount: true }, {})).to.equal(url);
  });

  it('has a different nonce for each login if the scope has openid', () => {
    const nonces = ['openid', 'openid profile', 'email openid'].map((scope) => chooseNonce(scope));
    expect(new Set(nonces)).to.have.property('size', nonces.length);
    for (const nonce of nonces) expect(nonce).to.match(/^[\w-]{22}$/);
    for (const scope of [undefined, 'profile', 'openid2 xopenid', 'https://a.example/openid']) {
      expect(chooseNonce(scope, 'of-the-login')).to.equal(undefined);
    }
    const url = new URL(withLoginParameters('https://a.example/?b', { nonce: 'n', state: 's' }));
    expect([...url.searchParams.keys()]).to.deep.equal(['b', 'state', 'nonce']);
  });

  it('keeps an existing query of the authorization endpoint unchanged', () => {
    for (const query of ['?tenant=a%20b&flag', '?tenant=a%20b&flag&', '?']) {
      const authorizeUrl = provider.authorizeUrl + query;
      const url = createAuthorizationUrls(client, { authorizeUrl })();
      expect(url)
        .to.match(/[?&]response_type=code&/)
        .and.not.match(/[?&]{2}/);
      expect(url.startsWith(authorizeUrl), url).to.equal(true);
      expect(new URL(url).searchParams.get('client_id')).to.equal('id with&signs');
    }
  });
});
