import { resolve } from 'node:path';
import { expect } from 'chai';
import { formatMigratedFile } from '../../src/config/shown/print.ts';
import { faultsOfFile, parsedFile, readFileConfig, readingsOf, readWhole, settingsOfFile } from './support/read.ts';

const team = `
base-url: https://login.example.com
providers:
  github: { client-id: Ov23li, client-secret-file: github }
  staff:
    issuer: https://id.example.com
    scope: [openid, email]
front-ends:
  app: { origin: https://app.example.com, redirect-uris: [https://app.example.com/in] }
  blog: { origin: https://blog.example.com, providers: [github], scope: repo user }
`;

const nineOf = (alias: string) => Array(9).fill(alias).join();
const bomb = Array.from({ length: 13 }, (_, level) => `x${level}: &x${level} [${nineOf(`*x${level - 1}`)}]`).join('\n');
const emptyEntries = (count: number) => Array.from({ length: count }, (_, n) => `  a${n}: {}\n`).join('');

const nesting = 'has the wrong indentation, or a bracket before it is not closed';
const keyType = 'is a key that is not a string: put it in quotes';

const tricks: Record<string, [text: string, ...faults: string[]]> = {
  'a tab as indentation': ['providers:\n\ta: {}\n', '2:1 is indented with a tab: use spaces'],
  'a tab as indentation, before right lines': [
    'front-ends:\n  app:\n\torigin: https://a.example\n    token-delivery: code\n',
    '3:1 is indented with a tab: use spaces',
  ],
  'wrong indentation, before right lines': [
    'front-ends:\n  app:\n    origin: https://a.example\n   token-delivery: code\n    scope: a\n',
    `4:1 ${nesting}`,
  ],
  'a tab in a map in braces': ['host: {\n\ta: {} }\n', '2:2 is indented with a tab: use spaces'],
  'a repeated key': ['port: 1\nhost: a\nport: 2\n', '3:1 repeats a key of line 1'],
  'a repeated name': ['providers:\n  a: {}\n  "a": {}\n', '3:3 repeats a key of line 2'],
  'a key that is a number': ['8000: a', `1:1 ${keyType}`],
  'a key that is a list': ['? [a]\n: b', `1:3 ${keyType}`],
  'a key without a name': [': b', `1:1 ${keyType}`],
  'a tag': ['host: !!binary aGk=', '1:7 has a tag: the file must have none'],
  'a tag of a program': ['host: !env HOST', '1:7 has a tag: the file must have none'],
  'two documents': ['{}\n---\n{}\n', '2:1 starts a second document: a file must have only one'],
  'an alias of nothing': ['host: *a', '1:1 host has no value'],
  'a merge key': ['providers:\n  a: &a { client-id: a }\n  b: { <<: *a }\n', '3:8 providers.b.<< is unknown'],
  'a list of settings': ['- port: 1', '1:1 is not a map of settings, such as port: 8000'],
  'one text': ['port', '1:1 is not a map of settings, such as port: 8000'],
  'a bracket that stays open': ['host: [a\n', `2:1 ${nesting}`],
  'bytes that are not UTF-8': ['host: \uFFFD', '1:1 is not UTF-8'],
  'more than 256 KiB': [`# ${'x'.repeat(256 * 1024)}`, '1:1 is larger than 256 KiB'],
  'an alias bomb': [bomb.replace(/\[.*?\]/, '[a]'), '13:17 has more than 100 aliases'],
  'too many providers': [`providers:\n${emptyEntries(101)}`, '102:3 providers has more than 100 entries'],
  'too many front ends': [`front-ends:\n${emptyEntries(1001)}`, '1002:3 front-ends has more than 1000 entries'],
  'no providers': ['providers:\n', '1:1 providers is not a map of names, each with its settings'],
  'an empty map of providers': ['providers: {}\n', '1:1 providers has no entries'],
  'an empty provider': ['providers:\n  a:\n', '2:3 providers.a is not a map of settings'],
  'a name that is no word of a path': [
    'providers: { a/b: { scope: } }',
    '1:14 providers has a name that must be 1 to 64 letters, digits, hyphens or underscores',
    '1:21 providers: scope has no value',
  ],
  'a front end with the name of an endpoint': [
    'front-ends: { callback: {} }',
    '1:15 front-ends.callback has the name of an endpoint: choose another name',
  ],
  'a map in place of a text': ['host: { a: b }', '1:1 host must be one value, not a map'],
  'a list of lists': ['trusted-proxies: [a, [b]]', '1:1 trusted-proxies number 2 must be one value, not a list'],
  'an empty list': ['trusted-proxies: []', '1:1 trusted-proxies is an empty list'],
  'an empty text': ["host: ''", '1:1 host has no value'],
  'nothing in place of a text': ['host: ~', '1:1 host has no value'],
  'a secret in place of the path of a key file': [
    'key-file: hunter2hunter2',
    '1:1 key-file must be a path with a slash, such as ./key',
  ],
  'a setting of a provider at the top': [
    'client-id: a',
    '1:1 client-id belongs to a provider: move it into an entry of providers',
  ],
  'a setting of the relay in a front end': [
    'front-ends: { a: { port: 1 } }',
    '1:20 front-ends.a.port belongs to the whole relay: move it to the top of the file, without indentation',
  ],
  'a path name': ['path-name: a', '1:1 path-name is what the name of an entry of providers gives'],
  'a flag in place of its key': [
    'front-ends: { a: { redirect-uri: https://a.example } }',
    '1:20 front-ends.a.redirect-uri is unknown: did you mean redirect-uris?',
  ],
  'another word for a key': ['pages: { language: de }', '1:10 pages.language is unknown: did you mean lang?'],
  'an unknown word': ['weather: red', '1:1 weather is unknown'],
  'a close key with a control character': ['"port\\u0007": 1', '1:1 a key is unknown: did you mean port?'],
  'a secret in place of a key': ['hunter2Hunter2: a', '1:1 a key is unknown'],
};

describe('the configuration file', () => {
  it('has settings of the relay, and entries of providers and front ends in order', () => {
    const { relay, providers, frontEnds } = settingsOfFile(team);
    expect(relay.values).to.deep.equal({ baseUrl: ['https://login.example.com'] });
    expect(providers?.map(({ name, values }) => [name, values])).to.deep.equal([
      ['github', { clientId: ['Ov23li'], clientSecretFile: ['./github'], provider: ['github'] }],
      ['staff', { issuer: ['https://id.example.com'], scope: ['openid email'] }],
    ]);
    const blog = { origin: ['https://blog.example.com'], providers: ['github'] };
    expect(frontEnds?.map(({ name, values }) => [name, values])).to.deep.equal([
      ['app', { origin: ['https://app.example.com'], redirectUri: ['https://app.example.com/in'] }],
      ['blog', { ...blog, scope: ['repo user'] }],
    ]);
  });

  it('names each setting with its line and column, and a missing setting with the place of its entry', () => {
    const { relay, registrations } = readingsOf(settingsOfFile(team));
    const [github, staff] = registrations;
    expect(relay.describe('baseUrl')).to.equal('config.yaml:2:1 base-url');
    expect(relay.describe('port')).to.equal('config.yaml port');
    expect(staff?.describe('scope')).to.equal('config.yaml:7:5 providers.staff.scope');
    expect(github.describe('scope')).to.equal('config.yaml:4:3 providers.github.scope');
    expect(github.describe('pathName')).to.equal('the name of config.yaml:4:3 providers.github');
  });

  it('may be empty, or have comments only', () => {
    for (const text of ['', '# port: 1\n', '---\n', '\uFEFF', '{}']) {
      expect(settingsOfFile(text).relay.values, text).to.deep.equal({});
    }
  });

  it('takes texts as they are written, so that numbers keep their digits, and booleans can be on and off', () => {
    const { providers, relay } = settingsOfFile(`
insecure-http: True
trusted-proxies: [10.0.0.1, 10.0.0.2]
refresh-tokens: false
providers: { a: { client-id: 0012345678901234567890, pkce: true, client-secret: 'a ''b' } }
`);
    expect(relay.values).to.deep.equal({
      insecureHttp: ['true'],
      trustedProxies: ['10.0.0.1,10.0.0.2'],
      refreshTokens: ['off'],
    });
    expect(providers?.[0]?.values).to.deep.equal({
      clientId: ['0012345678901234567890'],
      pkce: ['on'],
      clientSecret: ["a 'b"],
    });
  });

  it('is YAML 1.2, whatever version it names', () => {
    const { relay } = settingsOfFile('%YAML 1.1\n---\nhost: no\n');
    expect(relay.values).to.deep.equal({ host: ['no'] });
  });

  it('takes relative paths from its own directory', () => {
    const text = 'tls-cert: certificates/relay.pem\ntls-key: /etc/key\n';
    expect(settingsOfFile(text, '/etc/login-relay/config.yaml').relay.values).to.deep.equal({
      tlsCert: ['/etc/login-relay/certificates/relay.pem'],
      tlsKey: ['/etc/key'],
    });
    expect(settingsOfFile('tls-cert: ./a').relay.values).to.deep.equal({ tlsCert: ['./a'] });
  });

  it('gives a provider the preset of its name, unless it names another provider', () => {
    const { providers } = settingsOfFile(`
providers:
  gitlab: { client-id: a }
  google: { provider: slack }
  okta: { issuer: https://id.example.com }
  twitch: { authorize-url: https://id.example.com }
  staff: { client-id: a }
`);
    const presets = ['gitlab', 'slack', undefined, undefined, undefined];
    expect(providers?.map(({ values }) => values['provider']?.[0])).to.deep.equal(presets);
  });

  it('takes anchors and aliases', () => {
    const { frontEnds } = settingsOfFile(`
front-ends:
  app: &app { origin: https://a.example, token-delivery: code, providers: &some [one, two] }
  blog: *app
  shop: { origin: https://b.example, providers: *some }
`);
    const app = {
      origin: ['https://a.example'],
      tokenDelivery: ['code'],
      providers: ['one', 'two'],
    };
    const shop = { origin: ['https://b.example'], providers: ['one', 'two'] };
    expect(frontEnds?.map(({ values }) => values)).to.deep.equal([app, app, shop]);
  });

  for (const [trick, [text, ...faults]] of Object.entries(tricks)) {
    it(`refuses ${trick}`, () => {
      expect(parsedFile(text).faults).to.deep.equal(faults.map((fault) => `config.yaml:${fault}`));
    });
  }

  it('replaces flags and variables, if migrate has printed it', () => {
    const redirectUri = ['https://app.example.com/a', 'https://app.example.com/b'];
    const others = {
      provider: 'github',
      tokenDelivery: 'code',
      keyFile: '/etc/key',
      rateLimit: '60',
    };
    const flags = { tokenUrl: 'https://git.example.com/token', redirectUri, ...others };
    const files = { '/etc/key': { text: 'k'.repeat(32) }, './client-secret': { text: 'secret' } };
    const { config, readings } = readWhole({ flags, files });
    const migrated = formatMigratedFile(readings);
    expect(migrated).to.contain('client-secret-file').and.not.contain('port');
    expect(readFileConfig(migrated, { files }).config).to.deep.equal({
      ...config,
      config: 'config.yaml',
      registrationsAreNamed: true,
    });
  });

  it('has the same meaning for allow after migrate has printed it', () => {
    const text = `
base-url: https://login.example.com
key-file: ./key
providers:
  github: { client-id: a, client-secret: b, allow: { teams: [example/editors], users: 583231 } }
front-ends:
  tools: { kind: native, clients: { documents: claude.ai }, allow: { users: [octocat] } }
`;
    const { config, readings } = readFileConfig(text);
    const migrated = readFileConfig(formatMigratedFile(readings), {
      files: { [resolve('key')]: { text: 'k'.repeat(32) }, './client-secret': { text: 'b' } },
    });
    expect(migrated.config.registrations[0].allow).to.deep.equal(config.registrations[0].allow);
    expect(migrated.config.frontEnds).to.deep.equal(config.frontEnds);
  });

  it('uses no preset for a provider with its own endpoints, whatever its name is', () => {
    const provider = (name: string, more: string) => `
base-url: https://login.example.com
providers:
  ${name}: { client-id: a, client-secret: b, ${more} }
front-ends:
  app: { origin: https://app.example.com }
`;
    const authorizeUrl = 'https://id.example.com/a';
    const tokenUrl = 'https://id.example.com/t';
    const userUrl = 'https://id.example.com/u';
    const own = `authorize-url: ${authorizeUrl}, token-url: ${tokenUrl}`;
    const file = provider('github', `${own}, user-url: ${userUrl}`);
    const [registration] = readFileConfig(file).config.registrations;
    expect(registration.provider).to.deep.equal({
      known: { authorizeUrl, tokenUrl, userUrl, tokenRequest: 'body', pkce: true },
    });
    expect(faultsOfFile(provider('github', own))).to.deep.equal([
      'config.yaml:4:3 providers.github.user-url is required beside the other endpoints',
    ]);
  });
});
