import { expect } from 'chai';
import { identifyUserBase } from '../../src/config/relations.ts';
import { faultsOfFile, readFileConfig } from './support/read.ts';

const elsewhere = 'token-delivery code: every other way gives the provider';
const form = ' has the name of an endpoint: choose another name';

/** Lines of a file, with the beginnings of the faults that each causes, without the key of its entry. */
const table: readonly (readonly [line: string, ...faults: (readonly [string, string])[]])[] = [
  ['base-url: https://login.example.com'],
  ['providers:'],
  ['  github: { client-id: a, client-secret: b }'],
  ['  google: { provider: google, client-id: c, client-secret: d }'],
  ['  check: { issuer: https://id.example.com, client-id: e, client-secret: f }', ['3', form]],
  ['resources:'],
  [
    '  notes: { url: https://notes.example.com/mcp, provider: githup }',
    ['48', '.provider names a provider that is not configured: did you mean github?'],
  ],
  ['  files: { url: "https://FILES.example.com:443", provider: github }'],
  ['  again: { url: https://files.example.com/, provider: github }', ['12', '.url is that of resources.files, too']],
  [
    '  several: { url: https://several.example.com/ }',
    ['3', '.provider is required, because there are several providers'],
  ],
  ['  part: { url: "https://a.example.com/#a", provider: github }', ['11', '.url must not have a']],
  ['  query: { url: "https://b.example.com/?a", provider: github }', ['12', '.url must not have a']],
  ['  signs: { url: "https://b.example.com/a(b", provider: github }', ['12', '.url must have a path of letters']],
  ['  http: { url: http://c.example.com/, provider: github }', ['11', '.url must start with https']],
  ['  here: { url: http://127.0.0.1:9000/mcp, provider: github }'],
  ['  none: { url: https://d.example.com/, provider: github, identity: [] }', ['58', '.identity is an empty list']],
  [
    '  unsaid: { url: https://e.example.com/, provider: google, identity: [email, groups] }',
    ['60', '.identity has groups, which the provider google does not say: the user record of'],
  ],
  [
    '  unknown: { url: https://f.example.com/, provider: google, identity: phone, lifetime: 4 }',
    ['61', '.identity must be one of: email, groups'],
    ['78', '.lifetime must be a whole number from 5 to 1440'],
  ],
  [
    '  short: { url: https://g.example.com/, provider: github, secret-file: ./short }',
    ['59', '.secret-file must name a file of one or two lines, each of 32 or more characters'],
  ],
  [
    '  unused: { url: https://h.example.com/, provider: github, allow: {} }',
    ['3', ' is used by no front end'],
    ['60', '.allow has no rule'],
  ],
  ['  misspelt: { url: https://i.example.com/, provider: github }'],
  ['front-ends:'],
  [
    '  session: { origin: https://a.example.com, token-delivery: session, providers: [github], resources: [files] }',
    ['91', `.resources needs config.yaml:23:45 front-ends.session.${elsewhere}`],
  ],
  [
    '  cms: { origin: https://b.example, token-delivery: cms, providers: [github], resources: [again] }',
    ['79', `.resources needs config.yaml:24:37 front-ends.cms.${elsewhere}`],
  ],
  [
    '  pages: { origin: https://c.example, providers: [github], resources: [files] }',
    ['60', `.resources needs config.yaml:25:3 front-ends.pages.${elsewhere}`],
  ],
  [
    '  introspect: { origin: https://d.example, token-delivery: code, resources: [mispelt], providers: [github] }',
    ['3', form],
    ['66', '.resources names a resource that is not configured: did you mean misspelt?'],
  ],
  [
    '  part: { origin: https://e.example, token-delivery: code, providers: [google], resources: [here, unsaid, unknown] }',
    ['81', '.resources has here of the provider github, which the front end may not use'],
  ],
  [
    '  some: { origin: https://f.example, token-delivery: code, providers: [github, check], resources: [notes, part, query, signs, http, none, short] }',
    ['88', '.resources has none of the provider check: name the others in providers'],
  ],
  [
    '  twice: { origin: https://h.example, token-delivery: code, providers: [github, check], resources: [notes, notes] }',
    ['89', '.resources has none of the provider check'],
  ],
  ['  unclear: { origin: https://g.example, token-delivery: code, providers: [check], resources: [several] }'],
];

describe('the resources of a configuration file', () => {
  it('have each of their faults reported, with its place, and nothing that follows from it', () => {
    const [, ...rows] = table.map(([line]) => line);
    const text = [table[0]?.[0], ...rows].join('\n');
    const found = faultsOfFile(text, { files: { './short': { text: 'short' } } });
    const entries = table.map(([line]) => /^ {2}(\w+):/.exec(line)?.[1]);
    const expected = table.flatMap(([, ...faults], index) =>
      faults.map(([column, fault]) => `config.yaml:${index + 1}:${column} ${entries[index]}${fault}`),
    );
    const seen = found
      .filter((fault) => !/key-file is required/.test(fault))
      .map((fault) => fault.replace(/(?<=^\S+ )(providers|resources|front-ends)\./, ''));
    expect(
      found.filter((fault) => fault.includes('key-file is required with resources')),
      found.join('\n'),
    ).to.have.length(1);
    expect(seen.map((fault, index) => fault.slice(0, expected[index]?.length))).to.deep.equal(expected);
  });

  it('need no provider if there is only one, and have the values of the file', () => {
    const { config } = readFileConfig(`base-url: https://login.example.com
key-file: ./key
providers: { github: { client-id: a, client-secret: b } }
resources:
  notes: { url: https://NOTES.example.com/mcp, identity: [email, groups], allow: { users: [ada] } }
front-ends:
  app: { origin: https://a.example.com, token-delivery: code, resources: notes }
`);
    expect(config.resources).to.deep.equal([
      {
        name: 'notes',
        url: 'https://NOTES.example.com/mcp',
        registrations: ['github'],
        idsNameProvider: false,
        allow: config.resources[0]?.allow,
        identities: new Map([['github', { claims: ['email', 'groups'], groupsClaim: undefined }]]),
        lifetime: 3600,
        scope: undefined,
        secrets: [],
        upstream: undefined,
        browser: undefined,
      },
    ]);
  });

  it('learn the groups of the claim that their own `allow` or the `allow` of their provider compares', () => {
    const file = (provider: string, resource: string) => `base-url: https://login.example.com
key-file: ./key
providers: { p: { issuer: https://id.example.com, client-id: a, client-secret: b, ${provider} } }
resources: { notes: { url: https://notes.example.com/mcp, identity: groups, ${resource} } }
front-ends:
  app: { origin: https://a.example.com, token-delivery: code, resources: notes }
`;
    const claimOf = (...rules: Parameters<typeof file>) =>
      readFileConfig(file(...rules)).config.resources[0]?.identities.get('p')?.groupsClaim;
    const roles = 'allow: { groups: [staff], groups-claim: roles }';
    const others = 'allow: { users: [ada], groups-claim: others }';
    expect(claimOf('', '')).to.equal(undefined);
    expect(claimOf(roles, '')).to.equal('roles');
    expect(claimOf(roles, 'allow: { users: [ada] }')).to.equal('roles');
    expect(claimOf(roles, others)).to.equal('others');
    expect(claimOf(others, '')).to.equal('others');
    expect(faultsOfFile(file(others, roles)).join()).to.match(/p\.allow\.groups-claim has no effect/);
  });

  it('may have an upstream, unless the relay could not tell requests to it from others', () => {
    const open = 'kind: native, clients: { registration: true }';
    const file = (more: string, baseUrl = 'https://login.example.com', app = '') =>
      `base-url: ${baseUrl}
key-file: ./key
providers: { github: { client-id: a, client-secret: b, allow: { users: [ada] } } }
resources:
  plain: { url: https://plain.example.com/below }
  notes: ${more.includes('url: ') ? `{ ${more} }` : `{ url: https://notes.example.com/mcp, ${more} }`}
front-ends:
  app: { ${app || 'origin: https://a.example.com'}, token-delivery: code, resources: [plain, notes] }
  page: { origin: https://example.com, token-delivery: session, proxy: [{ path: /github/, url: https://api.github.com/ }] }
`;
    const upstream = 'upstream: http://127.0.0.1:9000/mcp';
    const at = (url: string, path = '/') => `url: "${url}", upstream: "http://127.0.0.1:9000${path}"`;
    const upstreamOf = (...given: Parameters<typeof file>) =>
      readFileConfig(file(...given)).config.resources[1]?.upstream;
    const passing: Parameters<typeof file>[] = [
      [upstream],
      [`${upstream}, token: provider`],
      [`${upstream}, token: provider, open-clients: true`, undefined, open],
      [upstream, undefined, open],
      [at('https://notes.example.com')],
      [at('https://login.example.com/api/notes', '/mcp')],
      [at('https://plain.example.com/below-it', '/mcp')],
      ['url: https://plain.example.com/'],
      ['upstream: http://notes:9000/mcp'],
    ];
    expect(passing.map((given) => upstreamOf(...given)?.givesToken)).to.deep.equal([
      false,
      true,
      true,
      false,
      false,
      false,
      false,
      undefined,
      false,
    ]);
    // Each address has its own share of the gateway, so several addresses are needed.
    const quiet = file(upstream).replace('key-file', 'trusted-proxies: "::1"\nrefused-exchanges: 0\nkey-file');
    expect(readFileConfig(quiet).warnings.join('\n')).not.to.include('trusted-proxies');
    const session = / {2}page: .*proxy.*\n/;
    const unused = quiet.replace(`, ${upstream}`, '').replace(session, '');
    expect(readFileConfig(unused).warnings.join('\n')).to.include('trusted-proxies has no effect');
    const refused: [RegExp, ...Parameters<typeof file>][] = [
      [/upstream must not have a query/, 'upstream: "http://127.0.0.1/mcp?a"'],
      [/upstream must not have a fragment/, 'upstream: "http://127.0.0.1/mcp#a"'],
      [/upstream must not hold a user/, 'upstream: "http://a@127.0.0.1/mcp"'],
      [/upstream must be a URL that starts/, 'upstream: "ws://127.0.0.1/mcp"'],
      [/upstream must have no slash at its end/, 'upstream: http://127.0.0.1:9000/mcp/'],
      [/url must have a slash at its end \(\/mcp\/\)/, 'upstream: http://127.0.0.1:9000'],
      [/upstream must have a slash at its end/, at('https://notes.example.com', '/mcp')],
      [/token is provider, which needs upstream/, 'token: provider'],
      [/token must be one of/, `${upstream}, token: all`],
      [/token is provider, but front-ends.app has/, `${upstream}, token: provider`, undefined, open],
      [/upstream must start with https/, 'upstream: http://notes:9000/mcp, token: provider'],
      [/url contains that of resources.plain/, at('https://plain.example.com/')],
      [/url contains that of resources.plain/, at('https://plain.example.com:443/below/it', '/mcp')],
      [/below one: \/auth, \/api\/user/, at('https://login.example.com')],
      [/below one: \/auth$/, at('https://login.example.com/auth/notes', '/mcp')],
      [/below one: \/api\/user$/, at('https://login.example.com/api/user/notes', '/mcp')],
      [/below one: \/api\/user$/, at('https://login.example.com/api/', '/')],
      [/below one: \/.well-known$/, at('https://login.example.com/.well-known/mcp', '/mcp')],
      [/below one: \/github\/$/, at('https://login.example.com/github', '/mcp')],
      [/below one: \/login$/, at('https://example.com/login/mcp', '/mcp'), 'https://example.com/login/'],
    ];
    for (const [message, ...given] of refused) {
      const faults = faultsOfFile(file(...given));
      expect(faults, faults.join('\n')).to.have.length(1);
      expect(faults[0]).to.match(message);
    }
    expect(readFileConfig(file(`${upstream}, open-clients: true`)).warnings).to.match(/open-clients has no effect/);
  });
});

describe('the provider whose people a resource knows', () => {
  it('is the same for two registrations of one provider, and differs for another provider', () => {
    const { config } = readFileConfig(`
key-file: ./key
providers:
  github: { client-id: a, client-secret: b }
  again: { provider: github, client-id: c, client-secret: d }
  google: { client-id: e, client-secret: f }
  found: { issuer: https://accounts.google.com, client-id: g, client-secret: h }
front-ends:
  app: { origin: https://a.example.com }
`);
    const [github, again, google, found] = config.registrations.map(identifyUserBase);
    expect([again, found]).to.deep.equal([github, google]);
    expect(github).not.to.equal(google);
  });
});
