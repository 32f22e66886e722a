import { expect } from 'chai';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { encoded, expectOAuthError, type Parameters, requestToken } from '../harness/login/oauth-front-end.ts';
import { baseUrl } from '../harness/relay/relay-under-test.ts';
import { origins, shopStart, team } from './support/team.ts';

const bearer: [string, string] = ['Authorization', 'Bearer token'];

/** Where a code is redeemed, and by a page of which origin. */
interface Place {
  readonly at?: string;
  readonly origin?: string;
}

describe('a relay with several registrations and front ends', () => {
  const underTest = team();

  for (const name of ['github', 'staff'] as const) {
    it(`logs in at ${name}, with the client identifier and the callback of that registration`, async () => {
      const browser = underTest().browser(name);
      const request = expectRedirect(await browser.open(`/auth/${name}`));
      expect(request.origin).to.equal(underTest().providers[name].origin);
      expect(request.searchParams.get('client_id')).to.equal(`client-at-${name}`);
      const redirectUri = `${baseUrl}/auth/${name}/callback`;
      expect(request.searchParams.get('redirect_uri')).to.equal(redirectUri);
      const page = expectRedirect(await browser.open(underTest().callbackOf(name, request)));
      // The first front end that takes plain logins, because this start names no front end.
      expect(page.href.startsWith(`${origins.app}/?access_token=`)).to.equal(true);
    });
  }

  for (const start of ['/auth/github/blog', '/auth/github?client_id=blog']) {
    it(`gives a login that starts at ${start} to the front end blog`, async () => {
      const page = expectRedirect(await underTest().logInAt('github', start));
      expect(page.href.startsWith(`${origins.blog}/#access_token=`)).to.equal(true);
    });
  }

  it("asks for the front end's own scope", async () => {
    const blog = expectRedirect(await underTest().browser('github').open('/auth/github/blog'));
    expect(blog.searchParams.get('scope')).to.equal('repo user');
    const app = expectRedirect(await underTest().browser('github').open('/auth/github'));
    expect(app.searchParams.has('scope')).to.equal(false);
  });

  for (const path of ['/auth/staff', '/auth/staff/shop']) {
    it(`gives a code to the front end that an OAuth request at ${path} names`, async () => {
      const { parameters } = shopStart();
      const page = expectRedirect(await underTest().logInAt('staff', `${path}?${encoded(parameters)}`));
      expect(page.origin + page.pathname).to.equal(`${origins.shop}/in`);
      expect(page.searchParams.has('code')).to.equal(true);
      expect(page.searchParams.get('iss')).to.match(/\/auth\/staff$/);
    });
  }

  const oauth = (changes: Parameters) => `/auth/staff?${encoded(shopStart(changes).parameters)}`;
  const refused: Readonly<Record<string, string>> = {
    'an OAuth request of no front end': oauth({ client_id: 'nobody' }),
    'an OAuth request without a client_id, which several front ends take': oauth({
      client_id: undefined,
    }),
    'an OAuth request with the redirect URI of another front end': oauth({ client_id: 'app' }),
    'a client_id that is not the front end of the path': `/auth/github/blog?client_id=app`,
    'a client_id of no front end': '/auth/github?client_id=nobody',
    'two client_ids': '/auth/github?client_id=app&client_id=blog',
    'a front end that may not use the registration': '/auth/staff?client_id=blog',
    'a front end that takes codes, without PKCE': '/auth/staff/shop',
  };
  for (const [what, path] of Object.entries(refused)) {
    it(`refuses ${what} in place`, async () => {
      const answer = await underTest().browser('staff').open(path, { headers: [] });
      expectError(answer, 400);
      expect(answer.headers).not.to.have.property('location');
    });
  }

  for (const path of ['nobody', 'staff/blog', 'staff/nobody', 'github/app/']) {
    it(`has nothing at /auth/${path}`, async () => {
      expectError(await underTest().get(`/auth/${path}`), 404);
    });
  }

  it('looks up a user at the provider that the request names, or else at the first provider', async () => {
    const asked = {
      '': 'github',
      '?provider=github': 'github',
      '?provider=staff': 'staff',
    } as const;
    for (const [query, name] of Object.entries(asked)) {
      for (const provider of Object.values(underTest().providers)) provider.forget();
      const path = `/api/user${query}`;
      const { status } = await underTest().send({ path, headers: [bearer] });
      expect(status).to.equal(200);
      expect(underTest().providers[name].calls).to.have.lengthOf(1);
      expect(underTest().calls).to.have.lengthOf(1);
    }
  });

  it('does not send the token of a page that may use several providers, unless the page names one', async () => {
    const headers: [string, string][] = [bearer, ['Origin', origins.app]];
    const refused = await underTest().send({ path: '/api/user', headers });
    expect(expectError(refused, 400)).to.match(/name one by the parameter provider/);
    expect(refused.headers['access-control-allow-origin']).to.equal(origins.app);
    expect(underTest().calls).to.deep.equal([]);
    const named = await underTest().send({ path: '/api/user?provider=staff', headers });
    expect(named.status).to.equal(200);
    expect(underTest().providers.staff.calls).to.have.lengthOf(1);
  });

  for (const query of ['?provider=nobody', '?provider=', '?provider=github&provider=staff']) {
    it(`refuses a lookup with ${query} without a call`, async () => {
      const path = `/api/user${query}`;
      expectError(await underTest().send({ path, headers: [bearer] }), 400);
      expect(underTest().calls).to.deep.equal([]);
    });
  }

  describe('whose registrations and front ends', () => {
    /** Redeems a code that `shop` has got at `staff`. */
    async function redeem({ at = 'staff', origin = origins.shop, ...changes }: Parameters & Place = {}) {
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
});

describe('a front end that may use only the second provider', () => {
  const docs = 'https://docs.example';
  const underTest = team(
    '',
    `  docs: { origin: ${docs}, providers: [staff] }
  own: { origin: ${new URL(baseUrl).origin}, providers: [staff] }
`,
  );

  for (const [where, header] of [
    ['', ['Origin', docs]],
    // Browsers send no Origin when a page reads from its own origin.
    [" at the relay's own origin", ['Sec-Fetch-Site', 'same-origin']],
  ] as [string, [string, string]][]) {
    it(`looks up its user there without naming it${where}`, async () => {
      const { status } = await underTest().send({ path: '/api/user', headers: [bearer, header] });
      expect(status).to.equal(200);
      expect(underTest().providers.staff.calls).to.have.lengthOf(1);
      expect(underTest().calls).to.have.lengthOf(1);
    });
  }
});
