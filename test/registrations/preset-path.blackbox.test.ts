import { expect } from 'chai';
import { FakeBrowser, granted } from '../harness/browser/fake-browser.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import {
  encoded,
  expectOAuthError,
  type OAuthResponse,
  oauthStart,
  redemption,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { baseUrl, relayUnderTest, startRelayWith } from '../harness/relay/relay-under-test.ts';

const path = '/auth/github';
const issuer = baseUrl + path;

describe('a relay with flags and a preset', () => {
  const underTest = relayUnderTest({ provider: 'github' }, { redirectUri: `${issuer}/callback` });

  /** Logs in at the path of the preset, up to the front end's redirect URI. */
  async function logIn(): Promise<OAuthResponse> {
    const start = oauthStart();
    const browser = new FakeBrowser(underTest);
    const request = expectRedirect(await browser.open(`${path}?${encoded(start.parameters)}`));
    const location = expectRedirect(await browser.open(granted(underTest().provider, request)));
    return { start, location, code: location.searchParams.get('code') ?? '' };
  }

  it('serves a whole login at the path of the preset', async () => {
    const { body } = await underTest().get(`/.well-known/oauth-authorization-server${path}`);
    expect(JSON.parse(`${body}`)).to.include({ issuer, token_endpoint: `${issuer}/token` });
    const response = await logIn();
    expect(response.location.searchParams.get('iss')).to.equal(issuer);
    const redeemed = await requestToken(underTest(), redemption(response), [], {
      path: `${path}/token`,
    });
    expect(redeemed.status).to.equal(200);
  });

  it('does not finish a login at the other path', async () => {
    const browser = new FakeBrowser(underTest);
    const request = expectRedirect(await browser.open('/auth/provider'));
    expect(request.searchParams.get('redirect_uri')).to.equal(`${baseUrl}/auth/provider/callback`);
    const state = request.searchParams.get('state');
    const answer = await browser.open(`${path}/callback?code=code-of-provider&state=${state}`);
    expect(expectError(answer, 400)).to.match(/state of this login was altered/);
    expectOAuthError(await requestToken(underTest(), redemption(await logIn())), 'invalid_grant');
  });

  it('leaves a path to the registration that has its name', async () => {
    const entry = 'client-id: x, client-secret: secret-of-the-client';
    const relay = await startRelayWith(
      `port: 0\nbase-url: ${baseUrl}\nproviders: { provider: { provider: github, ${entry} }, github: { ${entry}2 } }\nfront-ends: { app: { origin: https://app.example } }`,
    );
    const request = expectRedirect(await relay.get(path));
    await relay.stop();
    expect(request.searchParams.get('redirect_uri')).to.match(/\/auth\/github\/callback$/);
  });

  it('leaves the paths of sessions to registrations, unless a front end has sessions', async () => {
    const entry = '{ provider: github, client-id: x, client-secret: secret-of-the-client }';
    const relay = await startRelayWith(
      `port: 0\nbase-url: ${baseUrl}\nproviders: { session: ${entry} }\nfront-ends: { refresh: { origin: https://app.example } }`,
    );
    for (const start of ['/auth/session', '/auth/session/refresh']) {
      expect(expectRedirect(await relay.get(start)).searchParams.get('client_id')).to.equal('x');
    }
    const { status, body } = await relay.get('/auth/logout');
    await relay.stop();
    expect([status, JSON.parse(`${body}`).error]).to.deep.equal([400, 'client_unknown']);
  });
});
