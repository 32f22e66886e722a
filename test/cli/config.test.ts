import { expect } from 'chai';
import { runConfigAction } from '../../src/cli/commands/config.ts';
import type { OptionSources } from '../../src/config/option-sources.ts';
import { fileSettings, options } from '../../src/config/settings/settings.ts';
import { formatChangedSettings, formatConfigFile } from '../../src/config/shown/print.ts';
import { configFileSchema } from '../../src/config/shown/schema.ts';
import { metadataWith, withProvider } from '../check/support/provider.ts';
import { readingsOf, settingsOfFile } from '../config/support/read.ts';
import { runRelay } from '../harness/relay/relay-process.ts';
import { secretFile } from '../harness/relay/relay-under-test.ts';

const invocation = {
  flags: { 'client-id': 'client', 'redirect-uri': 'https://app.example.com/in' },
  env: { FRONTEND_ORIGIN: 'https://app.example.com', PROVIDER_CLIENT_SECRET: 'hunter2hunter2' },
};

describe('login-relay config', () => {
  it('print prints the configuration as a file, with secrets masked', async () => {
    const { code, stdout, stderr } = await runRelay({ ...invocation, words: ['config', 'print'] });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.contain('port: 8000 # default\n');
    expect(stdout).to.contain('base-url: http://localhost:8000 # default\n');
    expect(stdout).to.contain('    client-secret: "[secret]" # PROVIDER_CLIENT_SECRET\n');
    expect(stdout).not.to.contain('hunter2');
    const { providers, frontEnds } = settingsOfFile(stdout);
    expect(providers?.[0]).to.deep.include({ name: 'provider' });
    expect(frontEnds?.[0]).to.deep.include({ name: 'app' });
    expect(frontEnds?.[0]?.values).to.deep.equal({
      origin: ['https://app.example.com'],
      redirectUri: ['https://app.example.com/in'],
      tokenDelivery: ['query'],
    });
  });

  it('reads the file of the packaged service if no option is given, and says so', async () => {
    const text = `base-url: https://login.example.com
trusted-proxies: [127.0.0.1]
key-file: /key
providers: { github: { client-id: a, client-secret-file: /secret } }
front-ends: { app: { origin: https://app.example.com, token-delivery: code } }`;
    const files: Readonly<Record<string, string>> = {
      '/etc/login-relay/config.yaml': text,
      '/key': 'k'.repeat(32),
      '/secret': 'secret',
    };
    const readFile = (path: string) => ({ text: files[path] ?? '', readableByOthers: false });
    const printed = (action: 'check' | 'print', changed?: boolean) =>
      runConfigAction(action, { flags: {}, environment: {} }, changed, readFile);
    const why = '/etc/login-relay/config.yaml is read, since no option is given';
    expect(await printed('check')).to.equal(`${why}.\nThe configuration is valid.\n`);
    for (const isChanged of [true, false]) {
      expect(await printed('print', isChanged))
        .to.match(new RegExp(`^# ${why}\n`))
        .and.contain('https://app.example.com');
    }
  });

  it('check warns of a scope that allow or identity needs, as far as the file shows it', async () => {
    const warnings = async (provider: string, wiki: string) => {
      const file = `base-url: https://login.example.com
key-file: ./key
trusted-proxies: 127.0.0.1
providers: { p: { ${provider}, client-id: a, client-secret: b } }
resources: { wiki: { url: https://wiki.example.com/, browser: true, ${wiki} } }
`;
      const readFile = (path: string) => ({ text: path === 'f.yaml' ? file : 'k'.repeat(32), readableByOthers: false });
      const text = await runConfigAction('check', { flags: { config: ['f.yaml'] }, environment: {} }, false, readFile);
      return text.split('\n').slice(0, -2);
    };
    const start = 'warning: who may use wiki (browsers at p): the scope has no ';
    const missing = (scope: string) =>
      `${start}${scope}, so the provider does not say who a person is; add ${scope} to scope`;
    const ofDomain = 'allow: { email-domains: [example.com] }';
    const ofIssuer = `${missing('email')}, if the provider has that; check --login shows what it answers`;
    for (const [provider, wiki, ...expected] of [
      ['provider: google', ofDomain, missing('email')],
      ['provider: google', 'identity: [email]', missing('email')],
      ['provider: google, scope: openid email', ofDomain],
      ['provider: github', 'allow: { organizations: [example] }', missing('read:org')],
      ['provider: github, scope: admin:org', 'allow: { organizations: [example] }'],
      ['issuer: https://id.example.com', ofDomain, ofIssuer],
      ['issuer: https://id.example.com, scope: openid email', ofDomain],
      // Its metadata may not list such a scope, so that its groups need none.
      ['issuer: https://id.example.com', 'identity: [groups], allow: { groups-claim: groups, groups: [staff] }'],
    ] as const) {
      expect(await warnings(provider, wiki), `${provider}, ${wiki}`).to.deep.equal(expected);
    }
  });

  it('schema prints the JSON Schema, whatever the configuration', async () => {
    const { code, stdout } = await runRelay({ words: ['config', 'schema'] });
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal(configFileSchema());
  });
});

describe('login-relay config print, about what no setting gives', () => {
  it('adds the values of presets, issuers and defaults as comments', async () => {
    const metadata = metadataWith(() => ({ scopes_supported: ['openid'] }));
    await withProvider({ metadata }, async (_, __, address) => {
      const file = await secretFile(`base-url: https://login.example.com
providers:
  github: { provider: github, client-id: a, client-secret: b, token-url: https://github.com/token }
  staff: { issuer: ${address}, client-id: c, client-secret: d }
  down: { issuer: http://127.0.0.1:1, client-id: c, client-secret: d }
front-ends:
  app: { origin: https://app.example.com, token-delivery: code }
  blog: { origin: https://blog.example.com, providers: [github] }
`);
      const words = ['config', 'print'];
      const { code, stdout, stderr } = await runRelay({ words, flags: { config: file } });
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const comments = (entry: string) => {
        const [, lines = ''] = new RegExp(`^  ${entry}:\\n((?: {4}.*\\n)*)`, 'm').exec(stdout) ?? [];
        return lines.split('\n').flatMap((line) => /^ {4}# (.*)/.exec(line)?.[1] ?? []);
      };
      expect(comments('github')).to.deep.equal([
        'by the preset github:',
        '  authorize-url: https://github.com/login/oauth/authorize',
        '  user-url: https://api.github.com/user',
        '  token-request: query',
        '  pkce: on',
        "  answer-scope-separator: ','",
        'by default:',
        '  state-check: always',
      ]);
      expect(comments('staff')).to.include.members([
        'by the issuer:',
        `  token-url: ${address}/token`,
        '  scope: openid',
        '  pkce: on',
      ]);
      expect(comments('down').slice(0, 2)).to.deep.equal([
        'not known now: login-relay check says why:',
        '  authorize-url: ?',
      ]);
      expect(comments('blog')).to.deep.equal([
        'by default:',
        '  frontend-url: https://blog.example.com/',
        '  redirect-uris: [https://blog.example.com/]',
        '  error-delivery: json',
      ]);
      expect(comments('app')).to.include('  providers: [github, staff, down]');
      // The comments change nothing for those who use the file.
      expect(settingsOfFile(stdout).providers?.[0]?.values).not.to.have.property('authorizeUrl');
    });
  });
});

describe('the printed configuration', () => {
  const ofFlags: OptionSources = {
    flags: {
      clientId: ['0123'],
      pathName: ['github'],
      redirectUri: ['https://app.example.com/a', 'https://app.example.com/b'],
      scope: ['repo user'],
      tokenParams: ['key=hunter2'],
    },
    environment: {
      FRONTEND_ORIGIN: 'https://app.example.com',
      INSECURE_HTTP: 'true',
      PROVIDER_PKCE: 'off',
      RATE_LIMIT: '',
    },
  };

  it('contains the values of flags and variables, and stays the same if it is read and printed again', () => {
    const file = settingsOfFile(formatConfigFile(readingsOf(undefined, ofFlags)));
    expect(file.relay.values).to.deep.include({ insecureHttp: ['true'], port: ['8000'] });
    expect(file.relay.values).not.to.have.property('rateLimit');
    expect(file.providers?.map(({ name, values }) => [name, values])).to.deep.equal([
      [
        'github',
        {
          clientId: ['0123'],
          provider: ['github'],
          scope: ['repo user'],
          pkce: ['off'],
          tokenParams: ['[secret]'],
        },
      ],
    ]);
    expect(file.frontEnds?.[0]?.values).to.deep.include({
      redirectUri: ['https://app.example.com/a', 'https://app.example.com/b'],
    });
    const again = settingsOfFile(formatConfigFile(readingsOf(file)));
    expect(again.relay.values).to.deep.equal(file.relay.values);
    expect(again.providers?.[0]?.values).to.deep.equal(file.providers?.[0]?.values);
    expect(again.frontEnds?.[0]?.values).to.deep.equal(file.frontEnds?.[0]?.values);
  });

  it('says of each value where it is from; a flag or variable beats the file', () => {
    const file = settingsOfFile('port: 1\nhost: ::1\nproviders: { gitlab: { client-id: a } }\n');
    const sources = { flags: { port: ['2'] }, environment: { HOST: '::2' } };
    const text = formatConfigFile(readingsOf(file, sources));
    expect(text).to.contain('port: 2 # --port\n').and.to.contain('host: ::2 # HOST\n');
    expect(text).to.contain('    client-id: a # config.yaml:3:24\n');
    expect(text).to.contain('    provider: gitlab # name of the entry\n');
    const changed = formatChangedSettings(readingsOf(file, sources));
    expect(changed).to.contain('port: 2 # --port\n').and.not.to.contain('default');
  });

  it('has no preset for a provider that has an issuer', () => {
    const file = settingsOfFile('providers: { staff: { issuer: https://id.example.com } }');
    const text = formatConfigFile(readingsOf(file));
    expect(text).not.to.contain(' provider:');
  });
});

describe('the schema of the file', () => {
  const schema = JSON.parse(JSON.stringify(configFileSchema()));
  const frontEnd = schema.properties['front-ends'].additionalProperties.properties;
  const levels = {
    relay: schema.properties,
    providers: schema.properties.providers.additionalProperties.properties,
    resources: schema.properties.resources.additionalProperties.properties,
    'front-ends': frontEnd,
    proxy: frontEnd.proxy.items.properties,
    allow: frontEnd.allow.properties,
    browser: schema.properties.resources.additionalProperties.properties.browser.anyOf[1].properties,
    clients: frontEnd.clients.properties,
    pages: schema.properties.pages.properties,
    texts: schema.properties.pages.properties.texts.properties,
  };

  it('has every setting once where the file has it, with a description', () => {
    const keys = Object.entries(levels).flatMap(([level, properties]) =>
      Object.keys(properties).map((key) => `${level} ${key}`),
    );
    expect(keys).to.have.members([
      ...Object.entries(fileSettings).flatMap(([level, settings]) => settings.map(({ key }) => `${level} ${key}`)),
      'relay providers',
      'relay resources',
      'relay front-ends',
      'relay pages',
      'pages texts',
      'providers allow',
      'resources allow',
      'resources browser',
      'front-ends proxy',
      'front-ends clients',
      'front-ends allow',
    ]);
    for (const properties of Object.values(levels)) {
      for (const one of Object.values<{ description: string }>(properties)) {
        expect(one.description).to.match(/^[A-Z].*\.$/);
      }
    }
  });

  it('has every option of the command line that makes sense in a file', () => {
    const names = Object.values(fileSettings).flatMap((settings) => settings.map(({ name }) => name));
    const missing = Object.keys(options).filter((name) => !names.some((one) => one === name));
    expect(missing.filter((name) => name !== 'config')).to.deep.equal(['pathName']);
  });
});
