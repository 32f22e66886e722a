import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import {
  encoded,
  expectOAuthError,
  type Parameters,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { configOf, origins, reloadWith, shopStart, team } from './support/team.ts';

describe('a registration that a reload removes', () => {
  const underTest = team();

  /** Reads the file again, after a change to the lines of `staff`. */
  async function reloadAfter(change: (staff: string) => string, more = ''): Promise<void> {
    const text = await configOf(underTest().providers, more);
    const line = await reloadWith(
      underTest(),
      text.replace(/^ {2}staff:\n( {4}.*\n)+/m, (staff) => change(staff)),
    );
    expect(line['msg']).to.match(/^reloaded/);
  }
  const removeStaff = () => reloadAfter(() => '');
  beforeEach('configure it', async () => await reloadAfter((staff) => staff));

  function redeem(page: URL, verifier: string, changes: Parameters = {}): Promise<Answer> {
    const parameters = {
      grant_type: 'authorization_code',
      client_id: 'shop',
      code: page.searchParams.get('code') ?? '',
      code_verifier: verifier,
      ...changes,
    };
    return requestToken(underTest(), parameters, [], {
      origin: origins.shop,
      path: '/auth/staff/token',
    });
  }

  it('finishes its plain logins', async () => {
    const browser = underTest().browser('staff');
    const request = expectRedirect(await browser.open('/auth/staff'));
    await removeStaff();
    const page = expectRedirect(await browser.open(underTest().callbackOf('staff', request)));
    expect(page.href.startsWith(`${origins.app}/?access_token=`)).to.equal(true);
    expect(underTest().providers.staff.credentials('token')).to.have.lengthOf(1);
    expect(underTest().providers.github.calls).to.deep.equal([]);
  });

  it('finishes its OAuth logins, without a refresh token', async () => {
    const { parameters, codeVerifier } = shopStart();
    const browser = underTest().browser('staff');
    const request = expectRedirect(await browser.open(`/auth/staff?${encoded(parameters)}`));
    await removeStaff();
    const page = expectRedirect(await browser.open(underTest().callbackOf('staff', request)));
    const answer = await redeem(page, codeVerifier);
    expect(answer.status).to.equal(200);
    expect(answer.headers['access-control-allow-origin']).to.equal(origins.shop);
    expect(JSON.parse(`${answer.body}`))
      .to.include.keys('access_token')
      .and.not.to.have.any.keys('refresh_token');
    expectOAuthError(await redeem(page, codeVerifier), 'invalid_grant');
  });

  it('redeems the codes that it has issued, also after further reloads', async () => {
    const { parameters, codeVerifier } = shopStart();
    const start = `/auth/staff?${encoded(parameters)}`;
    const page = expectRedirect(await underTest().logInAt('staff', start));
    await removeStaff();
    await removeStaff();
    expect((await redeem(page, codeVerifier)).status).to.equal(200);
  });

  it('starts no login, and does nothing else', async () => {
    await removeStaff();
    for (const path of [
      '/auth/staff',
      '/auth/staff/shop',
      `/auth/staff?${encoded(shopStart().parameters)}`,
      '/.well-known/oauth-authorization-server/auth/staff',
      '/auth/staff/revoke',
    ]) {
      expectError(await underTest().get(path), 404);
    }
    const { parameters } = shopStart();
    const refresh = { client_id: 'shop', grant_type: 'refresh_token', refresh_token: 'any' };
    const answer = await requestToken(underTest(), { ...parameters, ...refresh }, [], {
      origin: origins.shop,
      path: '/auth/staff/token',
    });
    expectOAuthError(answer, 'unsupported_grant_type');
    const headers: [string, string][] = [['Authorization', 'Bearer token']];
    const lookup = await underTest().send({ path: '/api/user?provider=staff', headers });
    expectError(lookup, 400);
    expect(underTest().calls).to.deep.equal([]);
  });

  it('exchanges no code without a state, although it did before', async () => {
    await removeStaff();
    expectError(await underTest().get('/auth/staff/callback?code=any'), 400);
    expect(underTest().calls).to.deep.equal([]);
  });

  it('delivers nothing to a front end that is removed with it', async () => {
    const browser = underTest().browser('staff');
    await reloadAfter((staff) => staff);
    const withDocs = await configOf(
      underTest().providers,
      '',
      '  docs: { origin: https://docs.example }',
    );
    await reloadWith(underTest(), withDocs);
    const request = expectRedirect(await browser.open('/auth/staff/docs'));
    await removeStaff();
    const answer = await browser.open(underTest().callbackOf('staff', request), { headers: [] });
    expectError(answer, 400);
    expect(answer.headers).not.to.have.property('location');
    expect(underTest().calls).to.deep.equal([]);
  });

  it('finishes its logins under its old name if it gets another one', async () => {
    const browser = underTest().browser('staff');
    const request = expectRedirect(await browser.open('/auth/staff'));
    await reloadAfter((staff) => staff.replace('staff:', 'people:'));
    const page = expectRedirect(await browser.open(underTest().callbackOf('staff', request)));
    expect(page.searchParams.has('access_token')).to.equal(true);
    const next = expectRedirect(await browser.open('/auth/people'));
    expect(next.searchParams.get('redirect_uri')).to.match(/\/auth\/people\/callback$/);
  });

  describe('whose name gets another client', () => {
    const another = (staff: string) => staff.replace(/client-id: .*/, 'client-id: client-2');

    it('loses its logins: no code of the one client reaches the other', async () => {
      const browser = underTest().browser('staff');
      const request = expectRedirect(await browser.open('/auth/staff'));
      await reloadAfter(another);
      const callback = underTest().callbackOf('staff', request);
      expectError(await browser.open(callback, { headers: [] }), 400);
      expect(underTest().calls).to.deep.equal([]);
      const next = expectRedirect(await browser.open('/auth/staff'));
      expect(next.searchParams.get('client_id')).to.equal('client-2');
    });

    it('loses its codes, also if it was removed in between', async () => {
      const { parameters, codeVerifier } = shopStart();
      const start = `/auth/staff?${encoded(parameters)}`;
      const page = expectRedirect(await underTest().logInAt('staff', start));
      await removeStaff();
      await reloadAfter(another);
      expectOAuthError(await redeem(page, codeVerifier), 'invalid_grant');
      expect(underTest().calls).to.deep.equal([]);
    });
  });
});
