import { expect } from 'chai';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import {
  expectOAuthError,
  type Parameters,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { origins, team } from './support/team.ts';

/** Where a code is redeemed, and by a page of which origin. */
interface Place {
  readonly at?: string;
  readonly origin?: string;
}

describe('registrations and front ends of one relay', () => {
  const underTest = team();

  /** Redeems a code that `shop` has got at `staff`. */
  async function redeem({
    at = 'staff',
    origin = origins.shop,
    ...changes
  }: Parameters & Place = {}) {
    const request = { ...(await underTest().shopRedemption('staff')), ...changes };
    return await requestToken(underTest(), request, [], { origin, path: `/auth/${at}/token` });
  }

  it('refuse a state of one registration at the callback of another, before any call', async () => {
    const browser = underTest().browser('github');
    const request = expectRedirect(await browser.open('/auth/github'));
    const answer = await browser.open(underTest().callbackOf('github', request, 'staff'), {
      headers: [],
    });
    expectError(answer, 400);
    expect(answer.headers).not.to.have.property('location');
    expect(underTest().calls).to.deep.equal([]);
  });

  it('redeem a code at the registration that issued it', async () => {
    const answer = await redeem();
    expect(answer.status).to.equal(200);
    expect(underTest().providers.staff.credentials('token')).to.have.lengthOf(1);
    expect(underTest().providers.github.calls).to.deep.equal([]);
  });

  it('refuse a code of one registration at the token endpoint of another, before any call', async () => {
    expectOAuthError(await redeem({ at: 'github' }), 'invalid_grant');
    expect(underTest().calls).to.deep.equal([]);
  });

  it('refuse a code of one front end to another, before any call', async () => {
    const answer = await redeem({ client_id: 'app', origin: origins.app });
    expectOAuthError(answer, 'invalid_grant');
    expect(underTest().calls).to.deep.equal([]);
  });

  it("refuse a page of another front end's origin, which cannot read that", async () => {
    const answer = await redeem({ origin: origins.app });
    expectOAuthError(answer, 'invalid_request', 403);
    expect(answer.headers).not.to.have.property('access-control-allow-origin');
    expect(answer.headers['vary']).to.contain('Origin');
    expect(underTest().calls).to.deep.equal([]);
  });

  it('refuse the client_id of a front end that may not use the registration', async () => {
    const blog = await redeem({ client_id: 'blog' });
    expectOAuthError(blog, 'invalid_client');
    const page = await redeem({ client_id: 'blog', origin: origins.blog });
    expectOAuthError(page, 'invalid_request', 403);
    expect(page.headers).not.to.have.property('access-control-allow-origin');
  });

  const preflights = [
    ['/auth/github/token', origins.blog, true],
    ['/auth/github/token', origins.shop, true],
    ['/auth/staff/token', origins.shop, true],
    ['/auth/staff/token', origins.blog, false],
    ['/auth/staff/revoke', origins.blog, false],
    ['/auth/staff/token', 'https://evil.example', false],
  ] as const;
  for (const [path, origin, isAllowed] of preflights) {
    it(`${isAllowed ? 'allow' : 'do not allow'} a preflight of ${origin} at ${path}`, async () => {
      const { headers } = await underTest().preflight(path, origin);
      expect(headers['access-control-allow-origin']).to.equal(isAllowed ? origin : undefined);
    });
  }
});
