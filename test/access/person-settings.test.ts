import { expect } from 'chai';
import { checkAccess } from '../../src/check/access.ts';
import { jsonOf, loopback } from '../clients/support/clients-relay.ts';
import { faultsOfFile, readFileConfig } from '../config/support/read.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { eventually } from '../harness/system/eventually.ts';
import { bearer, check, introspect, notes, resourcesRelay, tokensOf } from '../resources/support/resources-relay.ts';

const resource = (identity: string) => ({
  relay: `resources:\n  notes: { url: ${notes}, ${identity && `identity: ${identity},`} secret-file: ./notes }\n`,
  frontEnds: `  tools: { kind: native, redirect-uris: ['${loopback}'], resources: [notes] }\n`,
  files: { './notes': 'a secret of thirty-two characters or more' },
});
const none = resource('');
const relay = resourcesRelay(none);

/** Logs in at a provider with these settings, where this is the user record. */
async function logIn(provider: readonly string[], record: object | string, identity = '') {
  await relay().restart({ ...resource(identity), provider: provider.join('\n    ') });
  relay().provider.forget();
  relay().lines.length = 0;
  relay().provider.knows(typeof record === 'string' ? (response) => response.end(record) : json(record));
  const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri: loopback, resource: notes });
  return await relay().redeem(start, code);
}

const lastLine = () => relay().lines.findLast(({ msg }) => msg === 'request');
const identityIn = (answer: Awaited<ReturnType<typeof logIn>>) => jsonOf(answer)['identity'];
const users = (names: string) => `allow: { users: [${names}] }`;

describe('a provider by hand', () => {
  const nested = { data: { id: '2244994945', username: 'ada_x' } };
  const atNested = ['user-id: data.id', 'user-name: data.username'];

  for (const [what, settings, record, isIn, identity] of [
    [
      'by a nested id',
      [...atNested, users("'2244994945'")],
      nested,
      true,
      { sub: '2244994945', preferred_username: 'ada_x' },
    ],
    ['by a nested name', [...atNested, users('ada_x')], nested, true, undefined],
    [
      'not by a name in another case, which may be somebody else’s',
      [...atNested, users('ADA_X')],
      nested,
      false,
      undefined,
    ],
    ['not by another id', [...atNested, users("'2244994946'")], nested, false, undefined],
    [
      'not by an id that is somebody else’s name',
      [...atNested, users('7')],
      { data: { id: '8', username: '7' } },
      false,
      undefined,
    ],
    [
      'not by a name that is somebody else’s id',
      [...atNested, users('ada_x')],
      { data: { id: 'ada_x', username: 'eve' } },
      false,
      undefined,
    ],
    [
      'not by a name that is somebody’s id, without a name',
      [...atNested, users('ada_x')],
      { data: { id: 'ada_x' } },
      false,
      undefined,
    ],
    [
      'by an id that looks like a name',
      [...atNested, users("'id:ada-cloud'")],
      { data: { id: 'ada-cloud', username: 'x' } },
      true,
      { sub: 'ada-cloud', preferred_username: 'x' },
    ],
    [
      'not by a name after id:',
      [...atNested, users("'id:ada-cloud'")],
      { data: { id: '1', username: 'ada-cloud' } },
      false,
      undefined,
    ],
    [
      'by any id without user-name',
      ['user-id: account_id', users("'557058:x'")],
      { account_id: '557058:x' },
      true,
      { sub: '557058:x' },
    ],
    [
      'not by a name without user-name',
      ['user-id: uid', users('ada')],
      { uid: 'x', preferred_username: 'ada' },
      false,
      undefined,
    ],
    [
      'by a number',
      ['user-id: id', 'user-name: login', users("'2244994946'")],
      { id: 2244994946, login: 'ada_n' },
      true,
      { sub: '2244994946', preferred_username: 'ada_n' },
    ],
    ['by the longest key', ['user-id: a.b', users('flat')], { 'a.b': 'flat', a: { b: 'deep' } }, true, { sub: 'flat' }],
    [
      'by an element of a list',
      ['user-id: accounts.1.id', users('second')],
      { accounts: [{ id: 'first' }, { id: 'second' }] },
      true,
      { sub: 'second' },
    ],
    [
      'not by one of several ids',
      ['user-id: accounts.id', users('first')],
      { accounts: [{ id: 'first' }, { id: 'second' }] },
      false,
      undefined,
    ],
  ] as const) {
    it(`lets people in ${what}`, async () => {
      const answer = await logIn(settings, record);
      expect(answer.status, `${answer.body}`).to.equal(isIn ? 200 : 400);
      if (identity !== undefined) expect(identityIn(answer)).to.deep.equal(identity);
      if (!isIn) expect(lastLine()).to.include({ outcome: 'access_refused', access: 'refused' });
    });
  }

  const emails = ['user-id: uid', 'user-email: emails.0.value'];
  const address = (verified: unknown) => ({ uid: 'u-1', emails: [{ value: 'ada@example.com', verified }] });
  const verified = 'user-email-verified: emails.0.verified';
  for (const [what, settings, record, email] of [
    ['of a list, if it is verified', [...emails, verified], address(true), 'ada@example.com'],
    ['written as text', [...emails, verified], address('true'), 'ada@example.com'],
    ['not if it is unverified', [...emails, verified], address(false), undefined],
    [
      'not if another element of the list is verified',
      ['user-id: uid', 'user-email: emails.value', 'user-email-verified: emails.verified'],
      { uid: 'u-1', emails: [{ value: 'ada@example.com' }, { type: 'phone', verified: true }] },
      undefined,
    ],
    [
      'of the only element that has one, if that is verified',
      ['user-id: uid', 'user-email: emails.value', 'user-email-verified: emails.verified'],
      { uid: 'u-1', emails: [{ type: 'phone' }, { value: 'ada@example.com', verified: true }] },
      'ada@example.com',
    ],
    [
      'not if the path of the verification leads to another element',
      ['user-id: uid', 'user-email: emails.1.value', 'user-email-verified: emails.0.verified'],
      { uid: 'u-1', emails: [{ value: 'eve@example.org', verified: true }, { value: 'ada@example.com' }] },
      undefined,
    ],
    [
      'not if nothing says that it is verified',
      [...emails, verified],
      { uid: 'u-1', emails: [{ value: 'ada@example.com' }] },
      undefined,
    ],
    ['that is always verified', [...emails, 'user-email-verified: always'], address(false), 'ada@example.com'],
    [
      'in the usual field',
      ['user-id: uid', 'user-email-verified: always'],
      { uid: 'u-1', email: 'ada@example.com' },
      'ada@example.com',
    ],
  ] as const) {
    it(`has an address ${what}`, async () => {
      expect(identityIn(await logIn(settings, record, 'email'))).to.deep.equal({
        sub: 'u-1',
        ...(email && { email }),
      });
      for (const rule of ['emails: [ADA@example.com]', 'email-domains: [Example.com]']) {
        const answer = await logIn([...settings, `allow: { ${rule} }`], record);
        expect(answer.status, rule).to.equal(email ? 200 : 400);
      }
    });
  }

  for (const [what, claim, record, groups] of [
    [
      'Zitadel',
      'urn:zitadel:iam:org:project:roles',
      { 'urn:zitadel:iam:org:project:roles': { staff: { 1: 'example.com' } } },
      ['staff'],
    ],
    [
      'a client id with dots',
      'resource_access.app.example.com.roles',
      { resource_access: { 'app.example.com': { roles: ['staff'] } } },
      ['staff'],
    ],
    ['a comma list', 'groups', { groups: 'users, staff,' }, ['users', 'staff']],
    [
      'a list of objects',
      'groups.name',
      { groups: [{ id: 'g2', name: 'staff' }, { name: 'a, b' }] },
      ['staff', 'a, b'],
    ],
    ['an element of a list, with a comma', 'groups.0', { groups: ['a, b', 'c'] }, ['a, b']],
    ['a comma list in an element of a list', 'realms.0.groups', { realms: [{ groups: 'a, b' }] }, ['a', 'b']],
    ['one of several lists', 'realms.0.groups', { realms: [{ groups: ['staff'] }, { groups: ['admins'] }] }, ['staff']],
    [
      'nested objects of a list',
      'orgs.roles',
      { orgs: [{ roles: ['staff'] }, { roles: { admin: true } }] },
      ['staff', 'admin'],
    ],
    ['one name', 'role', { role: 'staff' }, ['staff']],
    ['a list that SAML made a text', 'custom:groups', { 'custom:groups': '[staff, users]' }, ['staff', 'users']],
    ['a list that is JSON in a text', 'custom:groups', { 'custom:groups': '["staff","users"]' }, ['staff', 'users']],
    ['a number', 'role', { role: 7 }, ['7']],
  ] as const) {
    it(`has the groups of ${what}`, async () => {
      const settings = ['scope: groups', `allow: { groups: ['${groups[0]}'], groups-claim: '${claim}' }`];
      const answer = await logIn(settings, { sub: '7', ...record }, 'groups');
      expect(identityIn(answer), `${answer.body}`).to.deep.equal({ sub: '7', groups });
    });
  }

  for (const [what, claim, record] of [
    ['a key that is false', 'roles', { roles: { staff: false, other: true } }],
    ['a key that is null', 'roles', { roles: { staff: null } }],
    ['a key that is 0', 'roles', { roles: { staff: 0 } }],
    ['a key that is "false"', 'roles', { roles: { staff: 'false' } }],
    ['a key without anything', 'roles', { roles: { staff: {}, other: { staff: 1 } } }],
    ['a key inside of a list', 'roles', { roles: [{ staff: true }] }],
    ['a part of a distinguished name', 'roles', { roles: 'cn=x,staff' }],
    ['a part of a name in a list', 'roles', { roles: ['mine,staff'] }],
    ['a part of a name that is an element of a list', 'roles.0', { roles: ['mine,staff'] }],
    ['a part of a name in a list of objects', 'roles.name', { roles: [{ name: 'mine,staff' }] }],
    ['in another case', 'roles', { roles: ['Staff'] }],
    ['an inherited key', 'roles.staff', JSON.parse('{"roles":{"__proto__":{"staff":["staff"]}}}')],
    ['a longer key without it', 'a.b.roles', { 'a.b': {}, a: { b: { roles: ['staff'] } } }],
    ['a list of lists', 'a.roles', { a: [[{ roles: ['staff'] }]] }],
  ] as const) {
    it(`has no group by ${what}`, async () => {
      const settings = ['scope: groups', `allow: { groups: [staff], groups-claim: ${claim} }`];
      expect((await logIn(settings, { sub: '7', ...record })).status).to.equal(400);
    });
  }

  it('may send a single group as a distinguished name', async () => {
    const dn = 'cn=staff,ou=groups,dc=example';
    const settings = ['scope: groups', `allow: { groups: ['${dn}'], groups-claim: memberOf }`];
    expect(identityIn(await logIn(settings, { sub: '7', memberOf: dn }, 'groups'))).to.deep.include({ groups: [dn] });
  });

  it('can answer with lists in lists as deep as its answer is long', async () => {
    const deep = `{"sub":"7","groups":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect((await logIn(['scope: groups', 'allow: { groups: [x], groups-claim: groups.name }'], deep)).status).to.equal(
      400,
    );
    expect(lastLine()).to.include({ outcome: 'access_refused' });
  });
});

describe('the log of somebody who is refused', () => {
  const byGroup = ['scope: groups', 'allow: { groups: [staff] }'];
  const byAddress = ['scope: email', 'allow: { email-domains: [example.com] }'];
  for (const [settings, record, expected] of [
    [['user-id: data.id', users('x')], { data: {} }, [{ field: 'data.id', reason: 'missing' }]],
    [['user-id: data.id', users('x')], { data: { id: null } }, [{ field: 'data.id', reason: 'missing' }]],
    [['user-id: data.id', users('x')], { data: { id: ['x'] } }, [{ field: 'data.id', reason: 'shape' }]],
    [['user-id: id', users('x')], { id: 9007199254740993n }, [{ field: 'id', reason: 'shape' }]],
    [
      ['user-id: id', 'user-name: n', users('x, 7')],
      { id: '8' },
      [
        { field: 'n', reason: 'missing' },
        { field: 'id', reason: 'mismatch' },
      ],
    ],
    [byAddress, { email: 'ada@example.com', email_verified: false }, [{ field: 'email', reason: 'unverified' }]],
    [byAddress, { email: 'ada@example.com' }, [{ field: 'email', reason: 'unverified' }]],
    [byAddress, { email: 'a@b@example.com', email_verified: true }, [{ field: 'email', reason: 'shape' }]],
    [byAddress, { email: 'ada@other.example', email_verified: true }, [{ field: 'email', reason: 'mismatch' }]],
    [byAddress, {}, [{ field: 'email', reason: 'missing' }]],
    [byGroup, {}, [{ field: 'groups', reason: 'missing' }]],
    [byGroup, { groups: [] }, [{ field: 'groups', reason: 'mismatch' }]],
    [byGroup, { groups: ['guests'] }, [{ field: 'groups', reason: 'mismatch' }]],
    [byGroup, { groups: [{ name: 'staff' }] }, [{ field: 'groups', reason: 'shape' }]],
    [byGroup, { groups: true }, [{ field: 'groups', reason: 'shape' }]],
  ] as const) {
    it(`says ${expected.map(({ field, reason }) => `${field} ${reason}`).join(', ')}`, async () => {
      const text = JSON.stringify({ sub: 'canary-subject', ...record }, (_, value) =>
        typeof value === 'bigint' ? `big${value}` : value,
      ).replace(/"big(\d+)"/, '$1');
      expect((await logIn(settings, text)).status).to.equal(400);
      expect(lastLine()).to.deep.include({ outcome: 'access_refused', fields: expected });
      expect(JSON.stringify(relay().lines)).not.to.match(/ada@|other\.example|canary-subject|guests/);
    });
  }

  it('says nothing of who is let in', async () => {
    expect((await logIn(byGroup, { sub: '7', groups: ['staff'] })).status).to.equal(200);
    expect(lastLine()).not.to.have.property('fields');
  });
});

describe('a person without an id', () => {
  for (const [record, reason, text] of [
    [{ data: {} }, 'missing', 'data.id is missing'],
    [{ data: { id: {} } }, 'shape', 'data.id has another shape'],
    [{ data: { id: '' } }, 'missing', 'data.id is missing'],
  ] as const) {
    it(`gets no token, and learns that ${text}`, async () => {
      const answer = await logIn(['user-id: data.id'], record);
      expect(answer.status).to.equal(400);
      expect(answer.headers).not.to.have.property('retry-after');
      expect(jsonOf(answer)).to.include({ error: 'access_denied' });
      expect(`${jsonOf(answer)['error_description']}`).to.contain(text);
      const fields = [{ field: 'data.id', reason }];
      expect(lastLine()).to.deep.include({ outcome: 'identity_unknown', fields });
      // The access token and the refresh token.
      await eventually(async () => expect(relay().provider.credentials('revocation')).to.have.length(2));
    });
  }

  it('keeps the login at a refresh, which works again once the provider says the id', async () => {
    const frontEnds = none.frontEnds.replace('kind: native', 'kind: native, refresh-tokens: bearer');
    await relay().restart({ ...none, frontEnds, provider: 'user-id: data.id' });
    relay().provider.knows(json({ data: { id: '7' } }));
    const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri: loopback, resource: notes });
    const { refresh_token } = tokensOf(await relay().redeem(start, code));
    relay().ahead = 120_000;
    relay().provider.knows(json({ data: {} }));
    expect((await relay().refresh('tools', refresh_token)).status).to.equal(400);
    relay().provider.knows(json({ data: { id: '7' } }));
    const { access_token, identity } = tokensOf(await relay().refresh('tools', refresh_token));
    expect(identity).to.deep.equal({ sub: '7' });
    expect((await check(relay(), 'notes', bearer(access_token))).headers['x-forwarded-user']).to.equal('7');
    expect(await introspect(relay(), 'notes', access_token)).to.include({ active: true, sub: '7' });
  });
});

const file = (provider: string, more = '', frontEnd = '') => `base-url: https://login.example.com
key-file: ./key
providers:
  p: { client-id: a, client-secret: b, ${provider} }
${more}front-ends:
  app: { origin: https://app.example.com, ${frontEnd} }
`;
const byHand = 'authorize-url: https://id.example/a, token-url: https://id.example/t, user-url: https://id.example/u';

describe('the settings of who a person is', () => {
  for (const [text, fault] of [
    [file(`${byHand}, user-id: ' '`), 'user-id'],
    [file(`${byHand}, user-id: "a\\u0000b"`), 'user-id must be a name, or names with dots'],
    [file(`${byHand}, user-id: 'emails[0].value'`), 'user-id must be names with dots between them'],
    [file(`${byHand}, user-id: $.data.id`), 'user-id must be names with dots between them'],
    [file(`${byHand}, user-id: /data/id`), 'user-id must be names with dots between them'],
    [file(`${byHand}, user-id: [a, b]`), 'user-id must be one value, not a list'],
    [
      file(`${byHand}, user-email: mail, allow: { emails: [a@example.com] }`),
      'allow.emails cannot be asked at the provider p: no address counts as verified: set',
    ],
    [
      file('issuer: https://id.example, user-email: mail, allow: { emails: [a@example.com] }'),
      'allow.emails cannot be asked at the provider p: no address counts as verified',
    ],
    [
      file(`${byHand}, user-email: mail, allow: { email-domains: [example.com] }`),
      'allow.email-domains cannot be asked',
    ],
    [file('provider: github, user-email-verified: always'), 'user-email-verified needs'],
    [file('provider: entra, provider-tenant: x, user-name: upn'), 'user-name needs'],
  ] as const) {
    it(`have a fault: ${fault}`, () => {
      const faults = faultsOfFile(text);
      expect(faults, faults.join('\n')).to.have.length(1);
      expect(faults[0]).to.contain(`providers.p.${fault}`);
    });
  }

  for (const [provider, verdict] of [
    [`${byHand}, user-id: id`, 'warning'],
    ['issuer: https://id.example, scope: openid, user-from: id-token', 'warning'],
    ['provider: okta, provider-host: id.example', 'problem'],
  ] as const) {
    it(`make the scope of groups a ${verdict} of the check: ${provider}`, () => {
      const { config } = readFileConfig(file(`${provider}, allow: { groups: [staff] }`));
      const found = checkAccess(config, new Map()).filter(({ message }) => message.includes('the scope has no groups'));
      expect(found.map((one) => one.verdict)).to.deep.equal([verdict]);
    });
  }

  const assumed = (text: string) => readFileConfig(text).warnings.filter((one) => one.includes('user-id'));
  const ofUsers = 'allow: { users: [x] }';
  const ofResource = 'resources:\n  api: { url: https://api.example.com/ }\n';
  const code = 'token-delivery: code, resources: [api]';

  for (const text of [
    file(`${byHand}, ${ofUsers}`),
    file(`${byHand}, scope: read, ${ofUsers}`),
    file(`issuer: https://id.example, scope: read, ${ofUsers}`),
    file(byHand, '', ofUsers),
    file(byHand, ofResource, code),
    file(`${byHand}, user-email: mail`, ofResource, code),
  ]) {
    it(`have a warning of what is looked for: ${text.split('\n').slice(3).join(' ')}`, () => {
      expect(assumed(text)).to.have.length(1);
      expect(assumed(text)[0]).to.contain('providers.p.user-id is not set').and.to.contain(' sub ');
    });
  }

  for (const text of [
    file(byHand),
    file(`${byHand}, allow: { groups: [x] }`),
    file(`${byHand}, scope: openid, ${ofUsers}`),
    file(byHand, '', `scope: openid profile, ${ofUsers}`),
    file(`${byHand}, user-id: id, ${ofUsers}`),
    file(`issuer: https://id.example, ${ofUsers}`),
    file(`provider: github, ${ofUsers}`),
    file(`provider: keycloak, provider-host: id.example, provider-tenant: x, ${ofUsers}`),
    file(
      `authorize-url: https://github.com/a, token-url: https://github.com/t, user-url: https://api.github.com/user, ${ofUsers}`,
    ),
  ]) {
    it(`have none: ${text.split('\n').slice(3).join(' ')}`, () => {
      expect(assumed(text)).to.deep.equal([]);
    });
  }
});
