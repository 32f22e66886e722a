import { expect } from 'chai';
import type { Allow } from '../../src/access/allow.ts';
import { answerTo } from '../../src/access/allow.ts';
import { presets } from '../../src/providers/presets.ts';
import { accessRules } from '../../src/providers/provider.ts';
import type { Page } from '../harness/provider/pages.ts';
import { answer, json, redirect, reset, silence } from '../harness/provider/provider-behaviours.ts';
import { asksProvider } from './support/asking.ts';

type Pages = Readonly<Record<string, Page>>;

const allowed = 'allowed';
const refused = 'access_refused 403';

/** What a rule meets at a provider. */
interface Meeting {
  readonly preset: string;
  readonly allow: Allow;
  /** The answers by which a person may log in, and may not. */
  readonly yes: readonly Pages[];
  readonly no: readonly Pages[];
  /** The question besides the user record that decides. */
  readonly question?: string;
}

const record = (path: string, fields: object): Pages => ({ [`GET ${path}`]: json(fields) });
const github = (path: string) => record(path, { login: 'Ada', id: 583231 });
const githubs = [
  ['github', '/user', '/'],
  ['github-enterprise', '/api/v3/user', '/api/v3/'],
] as const;
const giteas = ['gitea', 'forgejo', 'codeberg'] as const;
const giteaUser = record('/api/v1/user', { login: 'ada', id: 7, email: 'made@up.example' });
const gitlabUser = record('/api/v4/user', { username: 'ada', id: 42, email: 'made@up.example' });
const userInfo = (fields: object) => ({ ...gitlabUser, ...record('/oauth/userinfo', fields) });
const claims = (path: string, fields: object) => record(path, { sub: 'subject', ...fields });
const graph = { ...record('/oidc/userinfo', { sub: 'pairwise', email: 'ada@example.com' }) };
const slack = (fields: object) =>
  record('/api/openid.connect.userInfo', {
    ok: true,
    sub: 'U1',
    'https://slack.com/user_id': 'U1',
    'https://slack.com/team_id': 'T1',
    'https://slack.com/team_domain': 'example',
    ...fields,
  });
const discord = (fields: object = {}) =>
  record('/api/v10/users/@me', { id: '80351110224678912', username: 'nelly', ...fields });

/** Three pages of a list of 100 each; what counts is on the last one. */
function pagesOf(path: string, query: string, items: readonly object[], filler: object): Pages {
  const at =
    (page: number): Page =>
    (response, request) => {
      const next = `http://elsewhere.example${path}?${query}&page=${page + 1}`;
      const list = page < 3 ? Array.from({ length: 100 }, () => filler) : items;
      const link =
        page < 3 ? { Link: `<http://x/?page=1>; rel="first", <${next}>; rel="next"` } : {};
      json(list, 200, link)(response);
      void request;
    };
  return {
    [`GET ${path}`]: (response, request) =>
      at(Number(request.query.get('page') ?? 1))(response, request),
  };
}

const meetings: readonly Meeting[] = [
  ...githubs.flatMap(([preset, user, directory]): Meeting[] => {
    const org = `GET ${directory}user/memberships/orgs/example`;
    const team = `GET ${directory}orgs/example/teams/editors/memberships/Ada`;
    const emails = `${directory}user/emails`;
    return [
      {
        preset,
        allow: { users: ['ADA'] },
        yes: [github(user)],
        no: [record(user, { login: 'bob', id: 583231 })],
      },
      {
        preset,
        allow: { users: ['583231'] },
        yes: [github(user)],
        no: [record(user, { login: '583231', id: 2 }), record(user, { login: 'ada', id: 5832310 })],
      },
      {
        preset,
        allow: { organizations: ['example'] },
        question: org,
        yes: [{ ...github(user), [org]: json({ state: 'active', role: 'member' }) }],
        no: [
          { ...github(user), [org]: json({ state: 'pending', role: 'member' }) },
          { ...github(user), [org]: json({ message: 'Not Found' }, 404) },
          { ...github(user), [`${org}-2`]: json({ state: 'active' }) },
          { ...github(user), [org]: json({ role: 'admin' }) },
        ],
      },
      {
        preset,
        allow: { teams: ['example/editors'] },
        question: team,
        yes: [{ ...github(user), [team]: json({ state: 'active', role: 'maintainer' }) }],
        no: [
          { ...github(user), [team]: json({ state: 'pending' }) },
          // The team of the same name in another organization, and another member.
          { ...github(user), [team.replace('example', 'example2')]: json({ state: 'active' }) },
          { ...github(user), [team.replace('Ada', 'bob')]: json({ state: 'active' }) },
        ],
      },
      {
        preset,
        allow: { emails: ['Ada@Example.com'] },
        question: `GET ${emails}`,
        yes: [
          {
            ...github(user),
            [`GET ${emails}`]: json([{ email: 'ada@example.com', verified: true, primary: false }]),
          },
          {
            ...github(user),
            ...pagesOf(emails, 'per_page=100', [{ email: 'ada@example.com', verified: true }], {
              email: 'x@example.net',
              verified: true,
            }),
          },
        ],
        no: [
          {
            ...github(user),
            [`GET ${emails}`]: json([{ email: 'ada@example.com', verified: false, primary: true }]),
          },
          { ...github(user), [`GET ${emails}`]: json([]) },
          record(user, { login: 'ada', id: 1, email: 'ada@example.com' }),
        ].map((pages) => ({ [`GET ${emails}`]: json([]), ...pages })),
      },
      {
        preset,
        allow: { emailDomains: ['example.com'] },
        question: `GET ${emails}`,
        yes: [
          {
            ...github(user),
            [`GET ${emails}`]: json([{ email: 'ada@EXAMPLE.com', verified: true }]),
          },
        ],
        no: [
          'ada@evil-example.com',
          'ada@a.example.com',
          'ada@example.com.evil.net',
          '"ada@example.com"@evil.net',
          'example.com',
        ].map((email) => ({
          ...github(user),
          [`GET ${emails}`]: json([{ email, verified: true }]),
        })),
      },
    ];
  }),
  ...giteas.flatMap((preset): Meeting[] => [
    {
      preset,
      allow: { users: ['Ada', '99'] },
      yes: [giteaUser],
      no: [record('/api/v1/user', { login: '99', id: 8 })],
    },
    {
      preset,
      allow: { organizations: ['example'] },
      question: 'GET /api/v1/orgs/example/members/ada',
      yes: [{ ...giteaUser, 'GET /api/v1/orgs/example/members/ada': answer(204, '', {}) }],
      no: [{ ...giteaUser, 'GET /api/v1/orgs/example/members/ada': json({}, 404) }],
    },
    {
      preset,
      allow: { teams: ['Example/editors'] },
      question: 'GET /api/v1/user/teams',
      yes: [
        {
          ...giteaUser,
          'GET /api/v1/user/teams': json([
            { name: 'Editors', organization: { username: 'example' } },
          ]),
        },
        {
          ...giteaUser,
          ...pagesOf(
            '/api/v1/user/teams',
            'limit=50',
            [{ name: 'editors', organization: { username: 'example' } }],
            { name: 'x', organization: { username: 'y' } },
          ),
        },
      ],
      no: [
        {
          ...giteaUser,
          'GET /api/v1/user/teams': json([
            { name: 'editors', organization: { username: 'other' } },
          ]),
        },
        { ...giteaUser, 'GET /api/v1/user/teams': json([{ name: 'editors', organization: null }]) },
        { ...giteaUser, 'GET /api/v1/user/teams': json([{ name: 'example/editors' }]) },
      ],
    },
    {
      preset,
      allow: { emailDomains: ['example.com'] },
      question: 'GET /api/v1/user/emails',
      yes: [
        {
          ...giteaUser,
          'GET /api/v1/user/emails': json([{ email: 'ada@example.com', verified: true }]),
        },
      ],
      no: [
        {
          ...giteaUser,
          'GET /api/v1/user/emails': json([{ email: 'ada@example.com', verified: false }]),
        },
      ],
    },
  ]),
  {
    preset: 'gitlab',
    allow: { groups: ['Example/Staff'] },
    question: 'GET /oauth/userinfo',
    yes: [userInfo({ groups: ['x', 'example/staff'] })],
    no: [
      userInfo({ groups: ['example', 'staff', 'example/staff/sub'] }),
      userInfo({}),
      userInfo({ groups: null }),
    ],
  },
  {
    preset: 'gitlab',
    allow: { emails: ['ada@example.com'] },
    question: 'GET /oauth/userinfo',
    yes: [userInfo({ email: 'ada@example.com', email_verified: true })],
    no: [
      userInfo({ email: 'ada@example.com', email_verified: false }),
      userInfo({ email: 'ada@example.com' }),
    ],
  },
  {
    preset: 'gitlab',
    allow: { users: ['ada'] },
    yes: [gitlabUser],
    no: [record('/api/v4/user', { username: 'eve', id: 42 })],
  },
  {
    preset: 'google',
    allow: { emailDomains: ['example.com'] },
    yes: [
      claims('/v1/userinfo', { email: 'ada@example.com', email_verified: true, hd: 'example.com' }),
    ],
    no: [
      // A private account with an address of the company.
      claims('/v1/userinfo', { email: 'ada@example.com', email_verified: true }),
      claims('/v1/userinfo', {
        email: 'ada@example.com',
        email_verified: true,
        hd: 'evil-example.com',
      }),
      claims('/v1/userinfo', {
        email: 'ada@example.com',
        email_verified: false,
        hd: 'example.com',
      }),
    ],
  },
  {
    preset: 'google',
    allow: { emails: ['ada@example.com'] },
    yes: [claims('/v1/userinfo', { email: 'ada@example.com', email_verified: true })],
    no: [claims('/v1/userinfo', { email: 'ada@example.com' })],
  },
  {
    preset: 'entra',
    allow: { groups: ['11111111-AAAA-4444-8888-222222222222'] },
    question: 'GET /v1.0/me/transitiveMemberOf',
    yes: [
      {
        ...graph,
        'GET /v1.0/me/transitiveMemberOf': (response, { query }) =>
          json(
            query.has('$skiptoken')
              ? { value: [{ id: '11111111-aaaa-4444-8888-222222222222' }] }
              : {
                  value: Array.from({ length: 100 }, (_, id) => ({ id: `${id}` })),
                  '@odata.nextLink':
                    'https://graph.microsoft.com/v1.0/me/transitiveMemberOf?$skiptoken=2',
                },
          )(response),
      },
    ],
    no: [{ ...graph, 'GET /v1.0/me/transitiveMemberOf': json({ value: [] }) }],
  },
  {
    preset: 'entra',
    allow: { users: ['oid-1'] },
    question: 'GET /v1.0/me',
    yes: [{ ...graph, 'GET /v1.0/me': json({ id: 'OID-1' }) }],
    no: [{ ...graph, 'GET /v1.0/me': json({ id: 'oid-2' }) }],
  },
  ...(['okta', 'keycloak', 'openid'] as const).flatMap((preset): Meeting[] => {
    const path = {
      okta: '/oauth2/v1/userinfo',
      keycloak: '/realms/staff/protocol/openid-connect/userinfo',
      openid: '/userinfo',
    }[preset];
    return [
      {
        preset,
        allow: { groups: ['staff', 'Domain Admins'] },
        yes: [claims(path, { groups: ['x', 'staff'] }), claims(path, { groups: 'Domain Admins' })],
        no: [
          claims(path, { groups: ['Staff', 'staff2', ' staff', 'ｓtaff'] }),
          claims(path, { groups: 'staff,x' }),
          claims(path, { groups: { staff: true } }),
          claims(path, { groups: [['staff']] }),
          claims(path, {}),
        ],
      },
      {
        preset,
        allow: { groups: ['editor'], groupsClaim: 'realm_access.roles' },
        yes: [
          claims(path, { realm_access: { roles: ['editor'] } }),
          claims(path, { 'realm_access.roles': ['editor'] }),
        ],
        no: [claims(path, { groups: ['editor'] }), claims(path, { realm_access: 'editor' })],
      },
      {
        preset,
        allow: { users: ['subject'] },
        yes: [claims(path, {})],
        no: [
          claims(path, { sub: 'Subject' }),
          claims(path, { sub: 'x', preferred_username: 'subject' }),
        ],
      },
      {
        preset,
        allow: { emails: ['ada@example.com'] },
        yes: [
          claims(path, { email: 'ada@example.com', email_verified: true }),
          claims(path, { email: 'ada@example.com', email_verified: 'true' }),
        ],
        no: [
          claims(path, { email: 'ada@example.com' }),
          claims(path, { email: 'ada@example.com', email_verified: 1 }),
          // Which of them is verified?
          claims(path, { email: ['x@example.net', 'ada@example.com'], email_verified: true }),
          claims(path, { email: '\u212A@example.com', email_verified: true }),
        ],
      },
      {
        preset,
        allow: { emails: ['k@example.com'] },
        yes: [claims(path, { email: 'K@example.com', email_verified: true })],
        no: [claims(path, { email: '\u212A@example.com', email_verified: true })],
      },
    ];
  }),
  {
    preset: 'auth0',
    allow: { groups: ['editor'], groupsClaim: 'https://example.com/roles' },
    yes: [claims('/userinfo', { 'https://example.com/roles': ['editor'] })],
    no: [claims('/userinfo', { groups: ['editor'] })],
  },
  {
    preset: 'slack',
    allow: { organizations: ['T1'] },
    yes: [slack({})],
    no: [
      slack({ 'https://slack.com/team_id': 't1' }),
      slack({ 'https://slack.com/team_id': 'T2' }),
    ],
  },
  // The id of a user is unique in a workspace only.
  {
    preset: 'slack',
    allow: { users: ['T1/U1'] },
    yes: [slack({})],
    no: [slack({ 'https://slack.com/team_id': 'T2' })],
  },
  {
    preset: 'discord',
    allow: { organizations: ['197038439483310086'] },
    question: 'GET /api/v10/users/@me/guilds',
    yes: [{ ...discord(), 'GET /api/v10/users/@me/guilds': json([{ id: '197038439483310086' }]) }],
    no: [
      {
        ...discord(),
        'GET /api/v10/users/@me/guilds': json([{ id: '2', name: '197038439483310086' }]),
      },
    ],
  },
  {
    preset: 'discord',
    allow: { users: ['80351110224678912'] },
    yes: [discord()],
    no: [discord({ id: '1', username: '80351110224678912' })],
  },
  {
    preset: 'discord',
    allow: { emails: ['n@example.com'] },
    yes: [discord({ email: 'n@example.com', verified: true })],
    no: [discord({ email: 'n@example.com', verified: false })],
  },
];

describe('the rules of who may log in', () => {
  const asking = asksProvider();

  for (const { preset, allow, yes, no, question } of meetings) {
    const rule = JSON.stringify(allow);

    it(`are answered by ${preset} as it documents: ${rule}`, async () => {
      for (const [pages, expected] of [
        ...yes.map((one) => [one, allowed] as const),
        ...no.map((one) => [one, refused] as const),
      ]) {
        asking().pages = pages;
        asking().advance(61_000);
        expect(await asking().ask(preset, allow), JSON.stringify(pages)).to.equal(expected);
      }
    });

    it(`let nobody in if ${preset} gives no answer, and do not say no: ${rule}`, async function () {
      this.timeout(10_000);
      const [user = ''] = Object.keys(yes[0] ?? {});
      const [first = {}] = yes;
      const troubles = [
        [json({}, 401), question ? 'access_unchecked 502' : 'token_invalid 401'],
        [json({}, 403), 'access_unchecked 502'],
        [redirect('http://127.0.0.1:9/'), 'access_unchecked 502'],
        [json({}, 429, { 'Retry-After': '30' }), 'access_unchecked 503'],
        [json({}, 500), 'access_unchecked 502'],
        [json({}, 503), 'access_unchecked 503'],
        [answer(200, 'no JSON'), 'access_unchecked 502'],
        [json(['ada', 'example']), 'access_unchecked 502'],
        [reset, 'access_unchecked 502'],
        // Each takes the time limit.
        ...(preset === 'github' ? ([[silence, 'access_unchecked 504']] as const) : []),
      ] as const;
      for (const [trouble, expected] of troubles) {
        asking().pages = { ...first, [question ?? user]: trouble };
        expect(await asking().ask(preset, allow)).to.equal(expected);
      }
      // A failure is not remembered.
      asking().pages = first;
      expect(await asking().ask(preset, allow)).to.equal(allowed);
    });
  }

  it('are those of every preset that the documents name, or have a reason', () => {
    for (const { name, access } of presets) {
      const answers = accessRules.map((rule) => answerTo(rule, { groupsClaim: 'x' }, access));
      expect(
        answers.some((one) => typeof one === 'object'),
        name,
      ).to.equal(true);
    }
  });
});
