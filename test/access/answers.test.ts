import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { json, silence } from '../harness/provider/provider-behaviours.ts';
import { asksProvider } from './support/asking.ts';

const allowed = 'allowed';
const refused = 'refused';
const user = 'GET /user';
const membership = 'GET /user/memberships/orgs/example';
const allow = { organizations: ['example'] };

describe('an answer to who may log in', () => {
  const asking = asksProvider();
  const ada = { [user]: json({ login: 'ada', id: 1 }) };
  const member = { ...ada, [membership]: json({ state: 'active' }) };

  it('is kept for a minute', async () => {
    asking().pages = member;
    expect(await asking().ask('github', allow)).to.equal(allowed);
    asking().pages = ada;
    asking().advance(59_000);
    expect(await asking().ask('github', allow)).to.equal(allowed);
    asking().advance(2_000);
    expect(await asking().ask('github', allow)).to.equal(refused);
    // A refusal is also remembered.
    asking().pages = member;
    expect(await asking().ask('github', allow)).to.equal(refused);
    asking().advance(61_000);
    expect(await asking().ask('github', allow)).to.equal(allowed);
  });

  it('is kept separately for each token, registration, preset and rule', async () => {
    asking().pages = member;
    expect(await asking().ask('github', allow)).to.equal(allowed);
    asking().pages = { ...ada, 'GET /api/v3/user': json({ login: 'eve', id: 2 }) };
    expect(await asking().ask('github', allow, 'another-token')).to.equal(refused);
    expect(await asking().ask('github', allow, 'a-token', 'another')).to.equal(refused);
    expect(await asking().ask('github-enterprise', allow)).to.equal(refused);
    expect(await asking().ask('github', { organizations: ['example2'] })).to.equal(refused);
    expect(await asking().ask('github', [allow, { users: ['eve'] }])).to.equal(refused);
    expect(await asking().ask('github', allow)).to.equal(allowed);
  });

  it('is asked again after a reload has named another field', async () => {
    asking().pages = { 'GET /userinfo': json({ sub: '1', id: '2' }) };
    const question = { claims: [] };
    expect(await asking().identify('openid', question)).to.deep.include({ sub: '1' });
    asking().changes = { access: { users: { kind: 'values', fields: ['id'] } } };
    expect(await asking().identify('openid', question)).to.deep.include({ sub: '2' });
    asking().changes = {};
    expect(await asking().identify('openid', question)).to.deep.include({ sub: '1' });
    expect(asking().requests).to.have.length(2);
  });

  it('is fetched once for all requests that need it at the same time', async () => {
    asking().pages = member;
    const all = Array.from({ length: 20 }, () => asking().ask('github', allow));
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set([allowed]));
    expect(asking().requests).to.have.length(2);
  });

  it('is yes only if all rules of provider and front end have a match', async () => {
    asking().pages = { ...member, [`${membership}2`]: json({ state: 'pending' }) };
    const other = { organizations: ['example2'] };
    expect(await asking().ask('github', [allow, { users: ['ada'] }])).to.equal(allowed);
    expect(await asking().ask('github', [allow, other])).to.equal(refused);
    expect(await asking().ask('github', [other, allow])).to.equal(refused);
    expect(await asking().ask('github', { ...other, users: ['ada'] })).to.equal(allowed);
    asking().pages = { ...ada, [membership]: json({}, 500) };
    asking().advance(61_000);
    expect(await asking().ask('github', [allow, { users: ['eve'] }])).to.equal(refused);
    expect(await asking().ask('github', [allow, { users: ['ada'] }])).to.match(/^access_unchecked/);
  });

  it('is yes if one rule matches although the question of another rule fails, and is never no then', async () => {
    asking().pages = { ...ada, [membership]: json({}, 500) };
    expect(await asking().ask('github', { ...allow, users: ['ada'] })).to.equal(allowed);
    const unchecked = await asking().ask('github', { ...allow, users: ['eve'] });
    expect(unchecked).to.equal('access_unchecked 502');
  });

  it('is yes if one organization or team matches although another cannot be asked, and is never no then', async () => {
    for (const status of [403, 500]) {
      const teams = '/orgs/example/teams';
      asking().pages = {
        ...member,
        [`${membership}2`]: json({}, status),
        [`GET ${teams}/a/memberships/ada`]: json({}, status),
        [`GET ${teams}/b/memberships/ada`]: json({ state: 'active' }),
      };
      asking().advance(61_000);
      const organizations = ['example2', 'example'];
      expect(await asking().ask('github', { organizations })).to.equal(allowed);
      expect(await asking().ask('github', { teams: ['example/a', 'example/b'] })).to.equal(allowed);
      const others = { organizations: ['example2', 'example3'] };
      expect(await asking().ask('github', others)).to.equal('access_unchecked 502');
    }
  });

  it('takes the time of one call for four questions, because they are asked at the same time', async () => {
    const paths = ['', 2, 3, 4, 5, 6].map((number) => `${membership}${number}`);
    const organizations = ['', 2, 3, 4, 5, 6].map((number) => `example${number}`);
    const silent = Object.fromEntries(paths.map((path) => [path, silence]));
    const rules = { organizations, users: ['eve'] };
    asking().pages = { ...ada, ...silent };
    asking().timeout = 3000;
    expect(await asking().ask('github', rules)).to.equal('access_unchecked 504');
    expect(asking().requests).to.have.length(5);
    asking().advance(61_000);
    asking().pages = { ...ada, ...silent, [`${membership}2`]: json({ state: 'active' }) };
    asking().timeout = 10_000;
    expect(await asking().ask('github', rules)).to.equal(allowed);
  });

  it('does not send the token to another host, whatever a list says', async () => {
    const pages: string[] = [];
    const list: Page = (response, { headers, url, query }) => {
      pages.push(`${headers.host}${url.pathname}`);
      const next = '<http://evil.example:1/steal?page=2>; rel="next"';
      const link = query.has('page') ? {} : { Link: next };
      json([{ email: 'x@example.net', verified: true }], 200, link)(response);
    };
    asking().pages = { ...ada, 'GET /user/emails': list };
    expect(await asking().ask('github', { emails: ['ada@example.com'] })).to.equal(refused);
    const { host } = new URL(asking().origin);
    expect(pages).to.deep.equal([`${host}/user/emails`, `${host}/user/emails`]);
  });

  it('is not known from a list without an end', async () => {
    const endless = json([], 200, { Link: '<?page=2>; rel="next"' });
    asking().pages = { ...ada, 'GET /user/emails': endless };
    const emails = { emails: ['ada@example.com'] };
    expect(await asking().ask('github', emails)).to.equal('access_unchecked 502');
    expect(asking().requests.length).to.be.lessThan(30);
  });

  for (const [what, record] of [
    ['a number that JSON cannot hold', '{"login":"ada","id":9007199254740993}'],
    ['a number as text with a sign', '{"login":"ada","id":"+9007199254740992"}'],
    ['a number in another form', '{"login":"ada","id":9.007199254740992e15}'],
    ['a list', '{"login":"ada","id":["x","9007199254740992x"]}'],
    ['a name of digits', '{"login":"9007199254740992","id":5}'],
    ['an inherited field', '{"__proto__":{"id":9007199254740992},"login":"ada"}'],
    ['nothing', '{"login":"ada"}'],
    ['null', '{"login":null,"id":null}'],
  ] as const) {
    it(`is no for an id that is ${what}`, async () => {
      asking().pages = {
        [user]: (response) => response.writeHead(200).end(record),
      };
      expect(await asking().ask('github', { users: ['9007199254740992'] })).to.equal(refused);
    });
  }

  it('is no for a login name that would leave the path of its question', async () => {
    for (const login of ['..', '.', '../../example2', 'ada/../eve', 'ada?x=', 'ada#', '']) {
      asking().advance(61_000);
      asking().pages = {
        [user]: json({ login, id: 1 }),
        '*': json({ state: 'active' }),
        'GET /orgs/example/teams/editors/memberships/': json({ state: 'active' }),
      };
      await asking().ask('github', { teams: ['example/editors'] });
      const paths = asking().requests.map(({ url }) => url.pathname + url.search);
      const own = /^\/(user|orgs\/example\/teams\/editors\/memberships\/[^/?#]+)$/;
      for (const path of paths) expect(path, login).to.match(own);
    }
  });

  it('is no for a token that no header can carry', async () => {
    asking().pages = member;
    expect(await asking().ask('github', allow, 'a\r\nb')).to.equal('access_unchecked 502');
    expect(asking().requests).to.deep.equal([]);
  });

  it('is asked with the headers that the provider requires', async () => {
    asking().pages = { 'GET /api/v10/users/@me': json({ id: '1', username: 'nelly' }) };
    expect(await asking().ask('discord', { users: ['nelly'] })).to.equal(allowed);
    expect(asking().requests[0]?.headers['user-agent']).to.match(/^DiscordBot/);
  });

  for (const email of [
    'mallory@evil.test@example.com',
    '@example.com',
    'ada@',
    'ada@@example.com',
    '"mallory@evil.test"@example.com',
    'mallory\uff20evil.test@example.com',
    'mallory\ufe6bevil.test@example.com',
    'mallory evil.test@example.com',
    'mallory\n@example.com',
    'mallory\u200b@example.com',
    'mallory@evil.test,ada@example.com',
  ]) {
    it(`takes ${JSON.stringify(email)} for no address, although the provider has verified it`, async () => {
      const record = { sub: '7', email, email_verified: true };
      asking().pages = { 'GET /userinfo': json(record), ...githubAddresses(email) };
      expect(await asking().ask('openid', { emailDomains: ['example.com'] })).to.equal(refused);
      expect(await asking().ask('openid', { emails: [email, 'ada@example.com'] })).to.equal(refused);
      expect(await asking().ask('github', { emailDomains: ['example.com'] })).to.equal(refused);
      for (const preset of ['openid', 'github']) {
        expect(await asking().identify(preset, { claims: ['email'] })).to.deep.include({ sub: '7', email: undefined });
      }
    });
  }

  it('does not take the domain of an address for the domain of a Workspace', async () => {
    const google = (hd: string) => ({ 'GET /v1/userinfo': json({ sub: '7', email_verified: true, hd }) });
    for (const hd of ['mallory@example.com', '@example.com', 'x@y@example.com']) {
      asking().advance(61_000);
      asking().pages = google(hd);
      expect(await asking().ask('google', { emailDomains: ['example.com'] })).to.equal(refused);
    }
    asking().advance(61_000);
    asking().pages = google('example.com');
    expect(await asking().ask('google', { emailDomains: ['example.com'] })).to.equal(allowed);
  });
});

const githubAddresses = (email: string) => ({
  [user]: json({ login: 'ada', id: 7 }),
  'GET /user/emails': json([{ email, verified: true, primary: true }]),
});
