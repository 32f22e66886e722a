import { expect } from 'chai';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { encoded } from '../harness/login/oauth-front-end.ts';
import { configOf, reloadWith, shopStart, team } from './support/team.ts';

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
});
