import { expect } from 'chai';
import type { Identity } from '../../src/access/identity.ts';
import type { Page, PageRequest } from '../harness/provider/pages.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { asksProvider } from './support/asking.ts';

type Pages = Readonly<Record<string, Page>>;

/** Two pages of a list. The first one names the second, at another host. */
function twoPages(path: string, first: readonly object[], second: readonly object[]): Pages {
  const Link = `<https://elsewhere.example/${path}?page=2>; rel="next"`;
  return {
    [`GET ${path}`]: (response, { query }: PageRequest) =>
      (query.has('page') ? json(second) : json(first, 200, { Link }))(response),
  };
}

const address = (email: string, verified: boolean, primary: boolean) => ({
  email,
  verified,
  primary,
});
const addresses = [address('second@example.com', true, false), address('first@example.com', true, true)];
const unverified = [address('ada@example.com', false, true), address('second@example.com', true, false)];
const gitHub = { 'GET /user': json({ login: 'Ada', id: 7, email: 'shown@example.com' }) };
const gitea = { 'GET /api/v1/user': json({ login: 'ada', id: 7, email: 'shown@example.com' }) };
const gitLab = { 'GET /api/v4/user': json({ username: 'ada', id: 7, email: 'x@example.com' }) };
const graph = {
  'GET /oidc/userinfo': json({
    sub: 'pairwise',
    preferred_username: 'ada@example.com',
    email: 'ada@example.com',
  }),
  'GET /v1.0/me': json({ id: 'oid-1' }),
};
const userInfo = (claims: object): Pages => ({
  'GET /userinfo': json({ sub: 'subject', preferred_username: 'ada', ...claims }),
});
const both = ['email', 'groups'] as const;
const ada = { sub: '7', preferred_username: 'ada' };

/** Who a person is, by what a provider answers. */
const identities: Readonly<Record<string, readonly (readonly [Pages, Identity, string?])[]>> = {
  github: [
    [
      {
        ...gitHub,
        'GET /user/emails': json(addresses),
        ...twoPages(
          '/user/teams',
          [{ slug: 'editors', name: 'The Editors', organization: { login: 'example' } }],
          [{ slug: 'staff', name: 'Staff', organization: { login: 'Other' } }],
        ),
      },
      {
        ...ada,
        preferred_username: 'Ada',
        email: 'first@example.com',
        groups: ['example/editors', 'Other/staff'],
      },
    ],
    [
      { ...gitHub, 'GET /user/emails': json(unverified), 'GET /user/teams': json([]) },
      { ...ada, preferred_username: 'Ada', email: undefined, groups: [] },
    ],
  ],
  gitea: [
    [
      {
        ...gitea,
        'GET /api/v1/user/emails': json(addresses),
        ...twoPages(
          '/api/v1/user/teams',
          [{ name: 'Editors', organization: { username: 'example' } }],
          [{ name: 'staff', organization: { username: 'example' } }],
        ),
      },
      { ...ada, email: 'first@example.com', groups: ['example/Editors', 'example/staff'] },
    ],
  ],
  gitlab: [
    [
      {
        ...gitLab,
        'GET /oauth/userinfo': json({
          email: 'ada@example.com',
          email_verified: true,
          groups: ['example/staff', 'example'],
        }),
      },
      { ...ada, email: 'ada@example.com', groups: ['example/staff', 'example'] },
    ],
  ],
  openid: [
    [
      userInfo({ email: 'ada@example.com', email_verified: true, roles: ['a, b', 'c'] }),
      {
        sub: 'subject',
        preferred_username: 'ada',
        email: 'ada@example.com',
        groups: ['a, b', 'c'],
      },
      'roles',
    ],
    [
      userInfo({ email: 'ada@example.com', preferred_username: 'ada@example.com' }),
      { sub: 'subject', preferred_username: undefined, email: undefined, groups: [] },
    ],
  ],
};

describe('who a person is', () => {
  const asking = asksProvider();

  for (const [preset, meetings] of Object.entries(identities)) {
    it(`is told by ${preset}, or nothing is told`, async () => {
      for (const [pages, expected, groupsClaim] of meetings) {
        const question = { claims: both, groupsClaim };
        asking().advance(61_000);
        asking().pages = pages;
        expect(await asking().identify(preset, question)).to.deep.equal(expected);
        for (const page of Object.keys(pages)) {
          asking().advance(61_000);
          asking().pages = { ...pages, [page]: json({}, 500) };
          expect(await asking().identify(preset, question), page).to.equal('access_unchecked 502');
        }
      }
    });
  }

  it('never has a part of the teams, because a single page that fails makes the whole answer fail', async () => {
    const whole = twoPages('/user/teams', [{ slug: 'a', organization: { login: 'b' } }], []);
    const nameless = json([{ slug: 'a' }]);
    const broken = json([{ slug: '\ud800', organization: { login: 'b' } }]);
    const answers = [json({}, 500), json({}, 403), json('no list'), json({}, 404)];
    for (const failure of [...answers, nameless, broken]) {
      asking().advance(61_000);
      const teams: Page = (response, request) =>
        (request.query.has('page') ? failure : whole['GET /user/teams'])?.(response, request);
      asking().pages = { ...gitHub, 'GET /user/teams': teams };
      const answer = await asking().identify('github', { claims: ['groups'] });
      expect(answer).to.match(/^access_unchecked/);
    }
  });

  it('is an id at Entra, and never an address that the people of a tenant may set themselves', async () => {
    const groups = 'GET /v1.0/me/transitiveMemberOf';
    asking().pages = { ...graph, [groups]: json({ value: [{ id: 'group-1' }] }) };
    expect(await asking().identify('entra', { claims: ['groups'] })).to.deep.equal({
      sub: 'oid-1',
      preferred_username: undefined,
      email: undefined,
      groups: ['group-1'],
    });
    expect(await asking().identify('entra', { claims: ['email'] })).to.equal('access_unchecked 502');
  });

  it('asks only for what is to be told', async () => {
    asking().pages = gitHub;
    expect(await asking().identify('github', { claims: [] })).to.include({ sub: '7' });
    expect(asking().requests).to.have.length(1);
  });
});
