import { expect } from 'chai';
import { faultsOfFile, readFileConfig } from './support/read.ts';

const team = `
base-url: https://login.example.com
key-file: ./key
port: 9000
providers:
  github: { client-id: one, client-secret: first }
  staff: { issuer: https://id.example.com, client-id: two, client-secret-file: staff }
front-ends:
  app: { origin: https://app.example.com, token-delivery: code, providers: [staff] }
  blog: { origin: https://blog.example.com, scope: repo user }
`;

const staff = { './staff': { text: 'second' } };
const read: typeof readFileConfig = (text, given = {}) =>
  readFileConfig(text, { ...given, files: { ...staff, ...given.files } });
const faults: typeof faultsOfFile = (text, given = {}) =>
  faultsOfFile(text, { ...given, files: { ...staff, ...given.files } });

describe('a configuration file with several registrations and front ends', () => {
  it('gives each registration its own callback, secret and provider', () => {
    const [github, staff] = read(team).config.registrations;
    const callbackUri = 'https://login.example.com/auth/github/callback';
    expect(github).to.include({ name: 'github', clientId: 'one', callbackUri });
    expect(github.clientSecret.reveal()).to.equal('first');
    expect(github.provider).to.have.property('known');
    const other = callbackUri.replace('github', 'staff');
    expect(staff).to.include({ name: 'staff', clientId: 'two', callbackUri: other });
    expect(staff?.clientSecret.reveal()).to.equal('second');
    expect(staff?.provider).to.have.property('discovered');
  });

  it('gives each front end its origin, delivery, registrations and scope', () => {
    const [app, blog] = read(team).config.frontEnds;
    const origin = 'https://app.example.com';
    const urls = { origin, frontendUrl: `${origin}/`, redirectUris: [`${origin}/`] };
    const atStaff = { tokenDelivery: 'code', registrations: ['staff'], scope: undefined };
    expect(app).to.deep.include({ name: 'app', ...urls, ...atStaff });
    const atBoth = { registrations: ['github', 'staff'], scope: 'repo user' };
    expect(blog).to.deep.include({ name: 'blog', tokenDelivery: 'query', ...atBoth });
    expect(blog?.origin).to.equal('https://blog.example.com');
  });

  it('warns of features that need a state if no registration, or no registration of a front end, checks the state', () => {
    const withOff = (...names: string[]) =>
      `
base-url: https://login.example.com
refresh-lifetime: 7
trusted-proxies: 127.0.0.1
key-file: ./key
providers:
${names.map((name, index) => `  ${name}: { client-id: ${index}, client-secret: x, provider: github${name.startsWith('off') ? ', state-check: off' : ''} }`).join('\n')}
front-ends:
  app: { origin: https://app.example.com, frontend-url: "https://app.example.com/?code=1", refresh-tokens: bearer, providers: [${names[0]}] }
  all: { origin: https://all.example.com }
`;
    const warned = (text: string) =>
      read(text)
        .warnings.map((warning) => warning.replace(/^config\.yaml:\d+:\d+ /, ''))
        .filter((warning) => /no effect|is required|OAuth logins cannot/.test(warning))
        .map((warning) => warning.replace(/ config\.yaml:\d+:\d+/, ''));
    const off = ' has no effect with providers.off.state-check off';
    const oauthOff = `${off}: OAuth logins need a state`;
    expect(warned(withOff('off', 'off-too'))).to.have.members([
      `refresh-lifetime${oauthOff}`,
      `key-file${off}`,
      `front-ends.app.refresh-tokens${oauthOff}`,
    ]);
    expect(warned(withOff('off', 'on'))).to.deep.equal([`front-ends.app.refresh-tokens${oauthOff}`]);
    const withoutKey = withOff('off', 'off-too').replace('key-file: ./key', '');
    expect(warned(withoutKey)).to.have.length(2);
  });

  it('gives each front end its own setting of refresh tokens, or the setting of the relay', () => {
    const kinds = (relay: string, ...added: string[]) => {
      const text = team.replace('port: 9000', relay).replace('staff] }', `staff], ${added} }`);
      return read(text).config.frontEnds.map(({ refreshTokens }) => refreshTokens);
    };
    expect(kinds('refresh-tokens: off')).to.deep.equal(['off', 'off']);
    expect(kinds('', 'refresh-tokens: off')).to.deep.equal(['off', 'bound']);
    expect(kinds('refresh-tokens: off', 'refresh-tokens: bearer')).to.deep.equal(['bearer', 'off']);
  });

  it('gives bearer refresh tokens neither to several origins nor to pages with sessions', () => {
    const several = team.replace('//app.', '//*.').replace('code,', 'code, refresh-tokens: bearer,');
    expect(faults(several)).to.deep.equal([
      'config.yaml:9:63 front-ends.app.refresh-tokens "bearer" must not be bearer if config.yaml:9:10 front-ends.app.origin has a *',
    ]);
    const session = team.replace('code,', 'session, refresh-tokens: bearer,');
    expect(read(session).warnings.join()).to.include('refresh-tokens has no effect with config.yaml');
  });

  it('always checks the state at a registration with a front end that takes codes', () => {
    const { registrations } = read(team).config;
    expect(registrations.map(({ stateCheck }) => stateCheck)).to.deep.equal(['browsers', 'always']);
    const wrong = team.replace('staff: {', 'staff: { state-check: browsers,');
    expect(faults(wrong)).to.deep.equal([
      'config.yaml:7:12 providers.staff.state-check "browsers" must be always with config.yaml:9:43 front-ends.app.token-delivery code: otherwise anyone could exchange a leaked code at the callback',
    ]);
  });

  it('can leave providers or front ends to flags and variables', () => {
    const environment = {
      PROVIDER_CLIENT_ID: 'id',
      PROVIDER_CLIENT_SECRET: 'secret',
      PROVIDER_SCOPE: 'user',
      FRONTEND_ORIGIN: 'https://app.example.com',
    };
    const { PROVIDER_SCOPE, PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET, ...frontEnd } = environment;
    const neither = read('port: 1', { environment }).config;
    expect(neither.registrations.map(({ name }) => name)).to.deep.equal(['provider']);
    expect(neither.frontEnds).to.have.lengthOf(1);
    expect(neither.frontEnds[0]).to.include({ name: 'app', scope: undefined });
    const client = '{ client-id: x, client-secret: y }';
    const providers = read(`providers: { a: ${client}, b: ${client} }`, { environment: frontEnd });
    expect(providers.config.frontEnds[0]?.registrations).to.deep.equal(['a', 'b']);
    const web = 'front-ends: { web: { origin: https://web.example.com, scope: user } }';
    const provider = { PROVIDER_SCOPE, PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET };
    const { frontEnds } = read(web, { environment: provider }).config;
    expect(frontEnds.map(({ name }) => name)).to.deep.equal(['web']);
  });

  it('says which to drop if flags or variables describe what the file describes', () => {
    const flags = { clientId: 'x', pathName: 'github' };
    const environment = { FRONTEND_ORIGIN: 'https://app.example.com', PROVIDER_SCOPE: 'user' };
    expect(faults(team, { flags, environment })).to.deep.equal([
      '--client-id (PROVIDER_CLIENT_ID) is given, but config.yaml has providers: drop one of them',
      '--scope (PROVIDER_SCOPE) is given, but config.yaml has providers: drop one of them',
      '--path-name (PROVIDER_PATH_NAME) is given, but config.yaml has providers: drop one of them',
      '--origin (FRONTEND_ORIGIN) is given, but config.yaml has front-ends: drop one of them',
    ]);
  });

  it('reports every fault with its place and in its order, and values unless they may be secret', () => {
    const text = `
port: lots
providers:
  github:
    client-id: one
    client-secret: "a\\tb"
    pkce: maybe
  staff: { issuer: 'http://id.example.com', client-secret: s }
  unused: { client-id: u, client-secret: s }
front-ends:
  app: { origin: https://app.example.com/x, providers: [github, stafff] }
  blog: { providers: [staff] }
`;
    expect(faults(text, { flags: { tlsCert: 'cert.pem' } })).to.deep.equal([
      'config.yaml tls-key is required with --tls-cert (TLS_CERT)',
      'config.yaml:2:1 port "lots" must be a whole number from 0 to 65535',
      'config.yaml:6:5 providers.github.client-secret must be one line of printable ASCII characters',
      'config.yaml:7:5 providers.github.pkce "maybe" must be one of: on, off',
      'config.yaml:8:3 providers.staff.client-id is required',
      `config.yaml:8:12 providers.staff.issuer "http://id.example.com" must start with https://. http:// is only for this machine, unless config.yaml insecure-http allows it`,
      'config.yaml:9:3 providers.unused is used by no front end',
      'config.yaml:11:10 front-ends.app.origin "https://app.example.com/x" must be an origin such as https://app.example.com: scheme, host and port, without a path',
      'config.yaml:11:45 front-ends.app.providers names a provider that is not configured: did you mean staff?',
      'config.yaml:12:3 front-ends.blog.origin is required',
    ]);
  });

  it('is told what is missing in it, if flags and variables do not give that', () => {
    expect(faults('').slice(0, 2)).to.deep.equal(['config.yaml has no providers', 'config.yaml has no front-ends']);
    const found = faults('port: 9000', { flags: { origin: 'https://app.example.com' } });
    expect(found.filter((fault) => / has no /.test(fault))).to.deep.equal(['config.yaml has no providers']);
  });

  it('is not told that a provider is unused if a front end has its name misspelt', () => {
    const misspelt = team.replace('providers: [staff]', 'providers: [stafff]');
    expect(faults(misspelt.replace('scope: repo user', 'providers: [github]'))).to.deep.equal([
      'config.yaml:9:65 front-ends.app.providers names a provider that is not configured: did you mean staff?',
    ]);
  });

  it('says why it cannot be read', () => {
    expect(faults(team, { flags: { config: 'missing.yaml' } })).to.deep.equal([
      '--config (LOGIN_RELAY_CONFIG) "missing.yaml" names a file that does not exist',
    ]);
  });

  it('is refused under a name that could change what a terminal shows', () => {
    const name = 'config\u001b[2K.yaml';
    const files = { [name]: { text: 'ports: 8000' } };
    expect(faults('', { flags: { config: name }, files })).to.deep.equal([
      '--config (LOGIN_RELAY_CONFIG) "config\\u001b[2K.yaml" has a control character',
    ]);
  });

  it('warns of a secret in a file that its group or every user can read', () => {
    for (const reader of ['readableByGroup', 'readableByOthers']) {
      const files = { 'config.yaml': { text: team, [reader]: true } };
      expect(read(team, { files }).warnings, reader).to.include(
        'config.yaml:6:29 providers.github.client-secret is in a file that other users can read: chmod 600 it, or keep the secret in a file of its own',
      );
    }
    expect(read(team).warnings.join()).to.not.contain('client-secret');
  });

  it('warns of front ends with different scopes that share an application at GitHub', () => {
    const warning =
      /^config.yaml:6:13 providers.github.client-id is used with different scopes: a login that requests no scope/;
    const shared = team.replace(', providers: [staff]', '');
    expect(read(shared).warnings.filter((one) => warning.test(one))).to.have.lengthOf(1);
    expect(read(team).warnings.join()).to.not.contain('different scopes');
  });

  it('takes the secret of a registration from the systemd credential with its name', () => {
    const text = team.replace(', client-secret: first', '');
    const environment = { CREDENTIALS_DIRECTORY: '/cred' };
    const files = { '/cred/github-client-secret': { text: 'third\n' } };
    const [github] = read(text, { environment, files }).config.registrations;
    expect(github.clientSecret.reveal()).to.equal('third');
    expect(faults(text, { environment })).to.deep.equal([
      'config.yaml:6:3 providers.github.client-secret-file is required, or the systemd credential github-client-secret, which is missing or empty',
    ]);
  });
});

describe('a configuration file with faults of its form and of its values', () => {
  it('is told all of them in order, and nothing that follows from them', () => {
    const faults = faultsOfFile(`prot: 1
base-url: ftp://login.example.com
key-file: key
max-connections: { most: 1 }
providers:
  github: { client-idd: a, client-secret-file: [x, y], state-check: [off] }
  staff: { client-id: b, client-secret: c, issuer: 'https://id.example.com/?a=b' }
front-ends:
  app: { origin: [https://a.example, https://b.example], token-delivery: cod }
  blog: { origin: https://blog.example/page, providers: [[github]] }
`);
    const places = faults.map((fault) => /^config\.yaml:(\S+ \S+) /.exec(fault)?.[1]);
    expect(places).to.deep.equal([
      '1:1 prot',
      '2:1 base-url',
      '3:1 key-file',
      '4:1 max-connections',
      '6:13 providers.github.client-idd',
      '6:28 providers.github.client-secret-file',
      '6:56 providers.github.state-check',
      '7:44 providers.staff.issuer',
      '9:58 front-ends.app.token-delivery',
      '10:11 front-ends.blog.origin',
      '10:46 front-ends.blog.providers',
    ]);
  });

  for (const [what, text, fault] of [
    ['of a map', 'provoders: { github: { client-id: 1 } }', 'provoders is unknown'],
    ['of an entry', 'providers: { "a b": { client-id: 1 } }', 'providers has a name that'],
    ['in place of a map', 'providers: [github]', 'providers is not a map'],
  ] as const) {
    it(`gets no further fault if the meaning of the rest is unclear, as with a name ${what}`, () => {
      const faults = faultsOfFile(`base-url: ftp://login.example.com\n${text}\n`);
      expect(faults).to.have.lengthOf(1);
      expect(faults[0]).to.contain(fault);
    });
  }
});
