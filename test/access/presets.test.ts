import { expect } from 'chai';
import type { Allow } from '../../src/access/allow.ts';
import { answerTo } from '../../src/access/allow.ts';
import { presets } from '../../src/providers/presets.ts';
import { accessRules } from '../../src/providers/provider.ts';
import type { Page } from '../harness/provider/pages.ts';
import { answer, json, redirect, reset } from '../harness/provider/provider-behaviours.ts';
import { asksProvider } from './support/asking.ts';

type Pages = Readonly<Record<string, Page>>;

const allowed = 'allowed';
const refused = 'refused';

/** The answers of a provider for a rule. */
interface Meeting {
  readonly allow: Allow;
  /** The answers by which a person may log in, and may not. */
  readonly yes: readonly Pages[];
  readonly no: readonly Pages[];
  /** The question, in addition to the user record, that decides. */
  readonly question?: string;
}

/** The record of a user, and what the provider answers to further questions. */
const record = (path: string, fields: object, answers: Pages = {}): Pages => ({
  [`GET ${path}`]: json(fields),
  ...answers,
});
const verified = (email: string, isVerified = true) => ({ email, verified: isVerified });
const claims = (path: string, fields: object) => record(path, { sub: 'subject', ...fields });
const user = (answers?: Pages) =>
  record('/api/v4/user', { username: 'ada', id: 42, email: 'made@up.example' }, answers);
const userInfo = (fields: object) => user(record('/oauth/userinfo', fields));
const google = (fields: object) => claims('/v1/userinfo', { email: 'ada@example.com', ...fields });
const graph = (answers: Pages) => record('/oidc/userinfo', { sub: 'pairwise', email: 'ada@example.com' }, answers);
const slack = (fields: object) =>
  record('/api/openid.connect.userInfo', {
    ok: true,
    sub: 'U1',
    'https://slack.com/user_id': 'U1',
    'https://slack.com/team_id': 'T1',
    'https://slack.com/team_domain': 'example',
    ...fields,
  });
const discord = (fields: object = {}, answers?: Pages) =>
  record('/api/v10/users/@me', { id: '80351110224678912', username: 'nelly', ...fields }, answers);

/** Three pages of a list, with 100 entries each. The entry that matches is on the last page. */
function pagesOf(path: string, query: string, item: object, filler: object): Pages {
  return {
    [`GET ${path}`](response, request) {
      const page = Number(request.query.get('page') ?? 1);
      const next = `http://elsewhere.example${path}?${query}&page=${page + 1}`;
      const Link = `<http://x/?page=1>; rel="first", <${next}>; rel="next"`;
      const list = page < 3 ? Array.from({ length: 100 }, () => filler) : [item];
      json(list, 200, page < 3 ? { Link } : {})(response);
    },
  };
}

function meetingsOfGitHub(path: string, directory: string): Meeting[] {
  const org = `GET ${directory}user/memberships/orgs/example`;
  const team = `GET ${directory}orgs/example/teams/editors/memberships/Ada`;
  const emails = `GET ${directory}user/emails`;
  const ada = (answers?: Pages) => record(path, { login: 'Ada', id: 583231 }, answers);
  const address = verified('ada@example.com');
  const active = json({ state: 'active', role: 'member' });
  const pending = json({ state: 'pending', role: 'member' });
  const withEmails = (...list: object[]) => ada({ [emails]: json(list) });
  return [
    { allow: { users: ['ADA'] }, yes: [ada()], no: [record(path, { login: 'bob', id: 583231 })] },
    {
      allow: { users: ['583231'] },
      yes: [ada()],
      no: [record(path, { login: '583231', id: 2 }), record(path, { login: 'ada', id: 5832310 })],
    },
    {
      allow: { organizations: ['example'] },
      question: org,
      yes: [ada({ [org]: active })],
      no: [
        ada({ [org]: pending }),
        ada({ [org]: json({ message: 'Not Found' }, 404) }),
        ada({ [`${org}-2`]: active }),
        ada({ [org]: json({ role: 'admin' }) }),
      ],
    },
    {
      allow: { teams: ['example/editors'] },
      question: team,
      yes: [ada({ [team]: json({ state: 'active', role: 'maintainer' }) })],
      no: [
        ada({ [team]: pending }),
        // The team of the same name in another organization, and another member.
        ada({ [team.replace('example', 'example2')]: active }),
        ada({ [team.replace('Ada', 'bob')]: active }),
      ],
    },
    {
      allow: { emails: ['Ada@Example.com'] },
      question: emails,
      yes: [
        withEmails({ ...address, primary: false }),
        ada(pagesOf(`${directory}user/emails`, 'per_page=100', address, verified('x@example.net'))),
      ],
      no: [
        withEmails({ ...verified('ada@example.com', false), primary: true }),
        withEmails(),
        record(path, { login: 'ada', id: 1, email: 'ada@example.com' }, { [emails]: json([]) }),
      ],
    },
    {
      allow: { emailDomains: ['example.com'] },
      question: emails,
      yes: [withEmails(verified('ada@EXAMPLE.com'))],
      no: [
        'ada@evil-example.com',
        'ada@a.example.com',
        'ada@example.com.evil.net',
        '"ada@example.com"@evil.net',
        'example.com',
      ].map((email) => withEmails(verified(email))),
    },
  ];
}

function meetingsOfGitea(): Meeting[] {
  const ada = (answers?: Pages) => record('/api/v1/user', { login: 'ada', id: 7, email: 'made@up.example' }, answers);
  const member = 'GET /api/v1/orgs/example/members/ada';
  const teams = 'GET /api/v1/user/teams';
  const emails = 'GET /api/v1/user/emails';
  const team = (name: string, username: string) => ({ name, organization: { username } });
  return [
    {
      allow: { users: ['Ada', '99'] },
      yes: [ada()],
      no: [record('/api/v1/user', { login: '99', id: 8 })],
    },
    {
      allow: { organizations: ['example'] },
      question: member,
      yes: [ada({ [member]: answer(204, '', {}) })],
      no: [ada({ [member]: json({}, 404) })],
    },
    {
      allow: { teams: ['Example/editors'] },
      question: teams,
      yes: [
        ada({ [teams]: json([team('Editors', 'example')]) }),
        ada(pagesOf('/api/v1/user/teams', 'limit=50', team('editors', 'example'), team('x', 'y'))),
      ],
      no: [
        ada({ [teams]: json([team('editors', 'other')]) }),
        ada({ [teams]: json([{ name: 'editors', organization: null }]) }),
        ada({ [teams]: json([{ name: 'example/editors' }]) }),
      ],
    },
    {
      allow: { emailDomains: ['example.com'] },
      question: emails,
      yes: [ada({ [emails]: json([verified('ada@example.com')]) })],
      no: [ada({ [emails]: json([verified('ada@example.com', false)]) })],
    },
  ];
}

function meetingsOfClaims(path: string): Meeting[] {
  const given = (fields: object) => claims(path, fields);
  const email = 'ada@example.com';
  return [
    {
      allow: { groups: ['staff', 'Domain Admins'] },
      yes: [
        given({ groups: ['x', 'staff'] }),
        given({ groups: 'Domain Admins' }),
        given({ groups: 'staff,x' }),
        given({ groups: { staff: true } }),
      ],
      no: [
        given({ groups: ['Staff', 'staff2', ' staff', 'ｓtaff'] }),
        given({ groups: 'cn=staff,ou=x' }),
        given({ groups: { staff: false } }),
        given({ groups: [['staff']] }),
        given({}),
      ],
    },
    {
      allow: { groups: ['editor'], groupsClaim: 'realm_access.roles' },
      yes: [given({ realm_access: { roles: ['editor'] } }), given({ 'realm_access.roles': ['editor'] })],
      no: [given({ groups: ['editor'] }), given({ realm_access: 'editor' })],
    },
    {
      allow: { users: ['subject'] },
      yes: [given({})],
      no: [given({ sub: 'Subject' }), given({ sub: 'x', preferred_username: 'subject' })],
    },
    {
      allow: { emails: [email] },
      yes: [given({ email, email_verified: true }), given({ email, email_verified: 'true' })],
      no: [
        given({ email }),
        given({ email, email_verified: 1 }),
        // Which of them is verified?
        given({ email: ['x@example.net', email], email_verified: true }),
      ],
    },
    {
      allow: { emails: ['k@example.com'] },
      yes: [given({ email: 'K@example.com', email_verified: true })],
      no: [given({ email: '\u212A@example.com', email_verified: true })],
    },
  ];
}

const groupsOfEntra = 'GET /v1.0/me/transitiveMemberOf';
const guilds = 'GET /api/v10/users/@me/guilds';

const meetings: Readonly<Record<string, readonly Meeting[]>> = {
  github: meetingsOfGitHub('/user', '/'),
  'github-enterprise': meetingsOfGitHub('/api/v3/user', '/api/v3/'),
  gitea: meetingsOfGitea(),
  forgejo: meetingsOfGitea(),
  codeberg: meetingsOfGitea(),
  okta: meetingsOfClaims('/oauth2/v1/userinfo'),
  keycloak: meetingsOfClaims('/realms/staff/protocol/openid-connect/userinfo'),
  openid: meetingsOfClaims('/userinfo'),
  gitlab: [
    {
      allow: { groups: ['Example/Staff'] },
      question: 'GET /oauth/userinfo',
      yes: [userInfo({ groups: ['x', 'example/staff'] })],
      no: [userInfo({ groups: ['example', 'staff', 'example/staff/sub'] }), userInfo({}), userInfo({ groups: null })],
    },
    {
      allow: { emails: ['ada@example.com'] },
      question: 'GET /oauth/userinfo',
      yes: [userInfo({ email: 'ada@example.com', email_verified: true })],
      no: [userInfo({ email: 'ada@example.com', email_verified: false }), userInfo({ email: 'ada@example.com' })],
    },
    {
      allow: { users: ['ada'] },
      yes: [user()],
      no: [record('/api/v4/user', { username: 'eve', id: 42 })],
    },
  ],
  google: [
    {
      allow: { emailDomains: ['example.com'] },
      yes: [google({ email_verified: true, hd: 'example.com' })],
      no: [
        // A private account with an address of the company.
        google({ email_verified: true }),
        google({ email_verified: true, hd: 'evil-example.com' }),
        google({ email_verified: false, hd: 'example.com' }),
      ],
    },
    {
      allow: { emails: ['ada@example.com'] },
      yes: [google({ email_verified: true })],
      no: [google({})],
    },
  ],
  entra: [
    {
      allow: { groups: ['11111111-AAAA-4444-8888-222222222222'] },
      question: groupsOfEntra,
      yes: [
        graph({
          [groupsOfEntra]: (response, { query }) =>
            json(
              query.has('$skiptoken')
                ? { value: [{ id: '11111111-aaaa-4444-8888-222222222222' }] }
                : {
                    value: Array.from({ length: 100 }, (_, id) => ({ id: `${id}` })),
                    '@odata.nextLink': 'https://graph.microsoft.com/v1.0/me/transitiveMemberOf?$skiptoken=2',
                  },
            )(response),
        }),
      ],
      no: [graph({ [groupsOfEntra]: json({ value: [] }) })],
    },
    {
      allow: { users: ['oid-1'] },
      question: 'GET /v1.0/me',
      yes: [graph({ 'GET /v1.0/me': json({ id: 'OID-1' }) })],
      no: [graph({ 'GET /v1.0/me': json({ id: 'oid-2' }) })],
    },
  ],
  auth0: [
    {
      allow: { groups: ['editor'], groupsClaim: 'https://example.com/roles' },
      yes: [claims('/userinfo', { 'https://example.com/roles': ['editor'] })],
      no: [claims('/userinfo', { groups: ['editor'] })],
    },
  ],
  slack: [
    {
      allow: { organizations: ['T1'] },
      yes: [slack({})],
      no: ['t1', 'T2'].map((id) => slack({ 'https://slack.com/team_id': id })),
    },
    // The id of a user is unique in a workspace only.
    {
      allow: { users: ['T1/U1'] },
      yes: [slack({})],
      no: [slack({ 'https://slack.com/team_id': 'T2' })],
    },
  ],
  discord: [
    {
      allow: { organizations: ['197038439483310086'] },
      question: guilds,
      yes: [discord({}, { [guilds]: json([{ id: '197038439483310086' }]) })],
      no: [discord({}, { [guilds]: json([{ id: '2', name: '197038439483310086' }]) })],
    },
    {
      allow: { users: ['80351110224678912'] },
      yes: [discord()],
      no: [discord({ id: '1', username: '80351110224678912' })],
    },
    {
      allow: { emails: ['n@example.com'] },
      yes: [discord({ email: 'n@example.com', verified: true })],
      no: [discord({ email: 'n@example.com', verified: false })],
    },
  ],
};

describe('the rules of who may log in', () => {
  const asking = asksProvider();

  const all = Object.entries(meetings).flatMap(([preset, some]) => some.map((meeting) => ({ preset, ...meeting })));
  for (const { preset, allow, yes, no, question } of all) {
    const rule = JSON.stringify(allow);

    it(`are answered by ${preset} as it documents: ${rule}`, async () => {
      for (const pages of [...yes, ...no]) {
        const expected = yes.includes(pages) ? allowed : refused;
        asking().pages = pages;
        asking().advance(61_000);
        expect(await asking().ask(preset, allow), JSON.stringify(pages)).to.equal(expected);
      }
    });

    it(`neither admit nor refuse a person by ${rule} if ${preset} gives no answer`, async () => {
      const [first = {}] = yes;
      const [lookup = ''] = Object.keys(first);
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
      ] as const;
      for (const [trouble, expected] of troubles) {
        asking().pages = { ...first, [question ?? lookup]: trouble };
        expect(await asking().ask(preset, allow)).to.equal(expected);
      }
      // A failure is not remembered.
      asking().pages = first;
      expect(await asking().ask(preset, allow)).to.equal(allowed);
    });
  }

  it('cover every preset that the documents name, or have a reason not to', () => {
    for (const { name, provider } of presets) {
      const answers = accessRules.map((rule) => answerTo(rule, { groupsClaim: 'x' }, provider.access));
      const isAnswered = answers.some((one) => one.kind !== 'cannot');
      expect(isAnswered, name).to.equal(true);
    }
  });
});
