import { expect } from 'chai';
import { authorizationRequestUrl } from '../../src/oauth/authorization-request.ts';

const request = {
  authorizeUrl: 'https://provider.example/authorize',
  clientId: 'id with&signs',
  redirectUri: 'https://login.example.com/auth/provider/callback',
  scope: undefined,
};

describe('the authorization request', () => {
  it('carries response type, client identifier and redirect URI', () => {
    const url = new URL(authorizationRequestUrl(request));
    expect(url.origin + url.pathname).to.equal(request.authorizeUrl);
    expect([...url.searchParams]).to.deep.equal([
      ['response_type', 'code'],
      ['client_id', 'id with&signs'],
      ['redirect_uri', 'https://login.example.com/auth/provider/callback'],
    ]);
  });

  it('carries the scope where one is configured', () => {
    const url = new URL(authorizationRequestUrl({ ...request, scope: 'openid read:user' }));
    expect(url.searchParams.get('scope')).to.equal('openid read:user');
  });

  it('keeps the query that the authorization endpoint already has', () => {
    const url = new URL(
      authorizationRequestUrl({ ...request, authorizeUrl: `${request.authorizeUrl}?tenant=a%20b` }),
    );
    expect(url.searchParams.get('tenant')).to.equal('a b');
    expect(url.searchParams.get('client_id')).to.equal('id with&signs');
  });
});
