import { expect } from 'chai';
import { authorizationRequestUrl } from '../../src/oauth/authorization-request.ts';

const provider = { authorizeUrl: 'https://provider.example/authorize' };
const client = {
  clientId: 'id with&signs',
  redirectUri: 'https://login.example.com/auth/provider/callback',
};

describe('the authorization request', () => {
  it('carries response type, client identifier and redirect URI', () => {
    const url = new URL(authorizationRequestUrl(client, provider));
    expect(url.origin + url.pathname).to.equal(provider.authorizeUrl);
    expect([...url.searchParams]).to.deep.equal([
      ['response_type', 'code'],
      ['client_id', 'id with&signs'],
      ['redirect_uri', 'https://login.example.com/auth/provider/callback'],
    ]);
  });

  it('carries the scope where one is configured', () => {
    const url = new URL(
      authorizationRequestUrl(client, { ...provider, scope: 'openid read:user' }),
    );
    expect(url.searchParams.get('scope')).to.equal('openid read:user');
  });

  it('keeps the query that the authorization endpoint already has, to the letter', () => {
    for (const query of ['?tenant=a%20b&flag', '?tenant=a%20b&flag&', '?']) {
      const authorizeUrl = provider.authorizeUrl + query;
      const url = authorizationRequestUrl(client, { authorizeUrl });
      expect(url)
        .to.match(/[?&]response_type=code&/)
        .and.not.match(/[?&]{2}/);
      expect(url.startsWith(authorizeUrl), url).to.equal(true);
      expect(new URL(url).searchParams.get('client_id')).to.equal('id with&signs');
    }
  });
});
