import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
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

  it('ends its logins in flight: people are told to start again, and no token is issued', async () => {
    const browser = underTest().browser('staff');
    const request = expectRedirect(await browser.open('/auth/staff'));
    await removeStaff();
    const { detail, links } = expectFailurePage(
      await browser.open(underTest().callbackOf('staff', request)),
      400,
    );
    expect(detail).to.contain('Start the login again.');
    // The relay does not know where it began: a link would lead to another front end and provider.
    expect(links).to.deep.equal({});
    expect(underTest().calls).to.deep.equal([]);
  });

  it('starts no login, and does nothing else', async () => {
    await removeStaff();
    for (const path of [
      '/auth/staff',
      '/auth/staff/shop',
      `/auth/staff?${encoded(shopStart().parameters)}`,
      '/.well-known/oauth-authorization-server/auth/staff',
      '/auth/staff/revoke',
      '/auth/staff/token',
    ]) {
      expectError(await underTest().get(path), 404);
    }
    const headers: [string, string][] = [['Authorization', 'Bearer token']];
    const lookup = await underTest().send({ path: '/api/user?provider=staff', headers });
    expectError(lookup, 400);
    expect(underTest().calls).to.deep.equal([]);
  });

  it('counts as removed under its old name if it gets another one', async () => {
    const browser = underTest().browser('staff');
    const request = expectRedirect(await browser.open('/auth/staff'));
    await reloadAfter((staff) => staff.replace('staff:', 'people:'));
    expectError(await browser.open(underTest().callbackOf('staff', request), { headers: [] }), 400);
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
      // Its state does not open, so it may be of any front end: none of them is told.
      expectFailurePage(await browser.open(callback), 400);
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
