import { expect } from 'chai';
import { github } from '../../src/providers/source-code-hosts.ts';
import { faults, type Given, minimal, onlyFault, read } from './support/read.ts';

const config = (given: Given) => read(given).config;

const onProxy = { BASE_URL: 'https://relay.example', REFRESH_TOKENS: 'off' };
const noLimit = { ...onProxy, REFUSED_EXCHANGES: '0' };
const warned: Record<string, [environment: Record<string, string>, warning?: RegExp]> = {
  'PKCE without a state': [{ PROVIDER_PKCE: 'on', STATE_CHECK: 'off' }, /^--pkce .* no effect/],
  'a limit that counts a proxy': [{ ...noLimit, RATE_LIMIT: '6' }, /^--rate-limit .* one/],
  'proxies without effect': [{ TRUSTED_PROXIES: '::1', REFUSED_EXCHANGES: '0' }, /^--trusted-proxies/],
  'metrics names without a port': [{ METRICS_NAMES: 'relay.example' }, /^--metrics-names .* no effect without/],
  'a metrics host without a port': [{ METRICS_HOST: '::' }, /^--metrics-host .* no effect without/],
  'a key without a state': [{ KEY_FILE: '/key', STATE_CHECK: 'off' }, /^--key-file .* no effect/],
  'a log of proxies': [{ ...noLimit, LOG_CLIENT_ADDRESS: 'cut' }, /^--log-client-address/],
  'refusals it cannot count': [onProxy, /^--refused-exchanges .* no effect.*--trusted-proxies/],
  'nothing at a known proxy': [{ ...onProxy, TRUSTED_PROXIES: '::1', LOG_CLIENT_ADDRESS: 'cut' }],
  'nothing without a proxy': [{ BASE_URL: 'http://localhost:8000' }],
  'nothing without a limit': [noLimit],
  'nothing with what it misses': [{ METRICS_HOST: '::', METRICS_PORT: '90', KEY_FILE: '/key' }],
  'nothing with a Unix socket': [{ RATE_LIMIT: '60', TRUSTED_PROXIES: 'unix, 10.0.0.0/8' }],
};

describe('the configuration', () => {
  it('needs an origin, a client identifier and a secret, and has a default for the rest', () => {
    const { clientSecret, provider, ...rest } = config({});
    expect(clientSecret.reveal()).to.equal('secret');
    expect(provider).to.have.nested.property('known.issuer', github.provider.issuer);
    // Undefined members are left out.
    expect(JSON.parse(JSON.stringify(rest))).to.deep.equal({
      port: 8000,
      host: '127.0.0.1',
      maxConnections: 4096,
      readyPolicy: 'any',
      refusedExchanges: 10,
      trustedProxies: [],
      behindUnknownProxy: false,
      callbackUri: 'http://localhost:8000/auth/provider/callback',
      paths: [
        {
          word: 'provider',
          callbackPath: '/auth/provider/callback',
          callbackUri: 'http://localhost:8000/auth/provider/callback',
        },
      ],
      kind: 'page',
      origin: 'https://app.example.com',
      origins: ['https://app.example.com'],
      frontendUrl: 'https://app.example.com/',
      tokenDelivery: 'query',
      apis: [],
      baseUrl: 'http://localhost:8000',
      errorDelivery: 'json',
      clientId: 'client',
      pathName: 'provider',
      frontEnd: 'app',
      providerTimeout: 10_000,
      proxy: {},
      stateCheck: 'browsers',
      title: 'GitHub',
      redirectUris: ['https://app.example.com/'],
      refreshTokens: 'bound',
      refreshLifetime: 30 * 24 * 60 * 60,
      sessionLifetime: 7 * 24 * 60 * 60,
      sessionIdle: 24 * 60 * 60,
      registrationsAreNamed: false,
      resources: [],
      logLevel: 'info',
      logClientAddress: 'off',
      logPeople: false,
      metricsHost: '127.0.0.1',
      sessionCheck: 'open',
      insecureHttp: false,
    });
  });

  it('warns of a path of the base URL with which addresses look like others', () => {
    const warned = (path: string, pathName = 'provider') =>
      read({
        environment: minimal,
        flags: { baseUrl: `https://login.example.com${path}`, pathName },
      }).warnings.filter((one) => one.startsWith('--base-url'));
    const expected = (path: string, name: string) => [
      `--base-url (BASE_URL) makes the relay's addresses look like paths below /auth/${name}: the proxy must remove ${path}`,
    ];
    for (const path of ['', '/sso', '/auth', '/api', '/auth/sso', '/healthz']) {
      expect(warned(path), path).to.deep.equal([]);
    }
    expect(warned('/auth', 'auth')).to.deep.equal(expected('/auth', 'auth'));
    expect(warned('/auth', 'api')).to.deep.equal(expected('/auth', 'api'));
    expect(warned('/auth/sso', 'sso')).to.deep.equal(expected('/auth/sso', 'sso'));
  });

  it('takes only host names for the metrics port', () => {
    const namesOf = (metricsNames: string) => config({ flags: { metricsPort: '9464', metricsNames } }).metrics?.names;
    expect(namesOf('relay1.example.com, Relay_2')).to.deep.equal(['relay1.example.com', 'relay_2']);
    for (const wrong of ['relay:9464', '*.example.com', 'https://relay.example', 'a b', '[::1]', 'a,,b', '0x7f.1']) {
      expect(onlyFault({ flags: { metricsPort: '9464', metricsNames: wrong } }), wrong).to.match(/must be host names/);
    }
  });

  it('treats an empty variable as unset', () => {
    expect(config({ environment: { ...minimal, PORT: '', BASE_URL: '' } }).port).to.equal(8000);
  });

  it('builds the callback URL from base URL and path name', () => {
    for (const baseUrl of ['https://login.example.com/relay', 'https://login.example.com/relay/']) {
      expect(config({ flags: { baseUrl, pathName: 'github' } }).callbackUri).to.equal(
        'https://login.example.com/relay/auth/github/callback',
      );
    }
  });

  it('names both ways to give the client secret if neither is used, the file first', () => {
    const environment = { FRONTEND_ORIGIN: 'https://app.example.com', PROVIDER_CLIENT_ID: 'id' };
    expect(faults({ environment })).to.include(
      '--client-secret-file (PROVIDER_CLIENT_SECRET_FILE) is required, or --client-secret (PROVIDER_CLIENT_SECRET)',
    );
  });

  it('reports every fault at once, each with flag and variable', () => {
    const lines = faults({
      flags: { port: '65536x', logLevel: 'canary', providerTimeout: '0' },
      environment: { FRONTEND_ORIGIN: 'https://canary.example.com/path' },
    });
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' ')).sort()).to.deep.equal([
      '--client-id (PROVIDER_CLIENT_ID)',
      '--client-secret-file (PROVIDER_CLIENT_SECRET_FILE)',
      '--log-level (LOG_LEVEL)',
      '--origin (FRONTEND_ORIGIN)',
      '--port (PORT)',
      '--provider-timeout (PROVIDER_TIMEOUT)',
    ]);
  });

  it('refuses NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
    const environment = { ...minimal, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    expect(onlyFault({ environment })).to.match(/^NODE_TLS_REJECT_UNAUTHORIZED /);
  });

  it('quotes a wrong value on one line, without query, fragment and control characters', () => {
    const quotes = {
      eighty: '"eighty"',
      'a "b"\n\u001b[31m\u009b\u202e': '"a \\"b\\"\\n\\u001b[31m\uFFFD\uFFFD"',
      ['long.'.repeat(40)]: `"${'long.'.repeat(20)}…"`,
    };
    for (const [port, quote] of Object.entries(quotes)) {
      expect(onlyFault({ flags: { port } })).to.equal(`--port (PORT) ${quote} must be a whole number from 0 to 65535`);
    }
    const baseUrl = 'https://a.example/?client_secret=b';
    expect(onlyFault({ flags: { baseUrl } })).to.equal(
      '--base-url (BASE_URL) "https://a.example/…" must not have a query',
    );
  });

  it('does not quote a value that is a secret or may contain a secret', () => {
    const secrets: NonNullable<Given['flags']>[] = [
      { clientSecret: 'a\nb' },
      { clientSecretFile: 'b5a1c0de' },
      { keyFile: 'b5a1c0de' },
      { sharedMemory: 'redis://127.0.0.1', sharedMemoryPasswordFile: 'b5a1c0de' },
      { tlsKey: 'b5a1c0de', tlsCert: 'certificate' },
      { tokenUrl: 'https://user:b5a1c0de@a.example' },
      { tokenUrl: 'user:b5a1c0de@a.example' },
      { port: '0123456789abcdef0123' },
      { provider: 'GOCSPX-b5a1c0de_b5a1' },
      // A secret of Entra, base64 with slashes, and a secret that has no digit.
      { provider: 'b5a8Q~b5a1c0de.B5a1c0de.b5a1c0de' },
      { port: 'b5a1c0de/ghiJKL/mnoPQR/123xyz/abc==' },
      { provider: 'aBcDeFgHiJkLmNoP' },
    ];
    for (const flags of secrets) {
      const environment = { FRONTEND_ORIGIN: 'https://a.example', PROVIDER_CLIENT_ID: 'a' };
      expect(faults({ flags, environment }).join('\n'))
        .to.match(/^--[\w-]+ \(\w+\) [a-z]/m)
        .and.not.match(/b5a1c0de|0123|"a/);
    }
  });

  it('refuses variables that make Node write requests, or open a debugger', () => {
    for (const [name, values] of Object.entries({
      NODE_DEBUG: ['http', '*', 'none'],
      NODE_OPTIONS: [
        '--inspect',
        '--inspect=0.0.0.0:9229',
        '--max-old-space-size=512 --inspect-brk',
        '"--inspect_wait"',
        '--debug-port=0',
      ],
    })) {
      for (const value of values) {
        const fault = onlyFault({ environment: { ...minimal, [name]: value } });
        expect(fault, value).to.match(new RegExp(`^${name} must not `));
      }
    }
    const harmless = { NODE_DEBUG: '', NODE_OPTIONS: '--max-old-space-size=512' };
    expect(faults({ environment: { ...minimal, ...harmless } })).to.deep.equal([]);
  });

  it('refuses a flag that is given twice', () => {
    const fault = onlyFault({ flags: { port: ['1', '2'] } });
    expect(fault).to.equal('--port (PORT) is given more than once');
  });

  it('needs a base URL with port 0', () => {
    expect(faults({ flags: { port: '0' } })[0]).to.match(/^--base-url \(BASE_URL\) is required/);
    expect(config({ flags: { port: '0', baseUrl: 'http://localhost:1' } }).port).to.equal(0);
  });

  for (const [what, [environment, warning]] of Object.entries(warned)) {
    it(`warns of ${what}`, () => {
      const files = { '/key': { text: 'k'.repeat(32) } };
      const { warnings } = read({ files, environment: { ...minimal, ...environment } });
      expect(warnings, warnings.join()).to.have.length(warning === undefined ? 0 : 1);
      if (warning !== undefined) expect(warnings[0]).to.match(warning);
    });
  }

  it('knows that clients are behind a proxy that is not trusted', () => {
    const isBehind = (more: object) => config({ environment: { ...minimal, ...onProxy, ...more } }).behindUnknownProxy;
    expect(isBehind({})).to.equal(true);
    expect(isBehind({ TRUSTED_PROXIES: '127.0.0.1' })).to.equal(false);
  });

  it('trusts addresses and networks of trusted proxies', () => {
    const TRUSTED_PROXIES = '10.0.0.0/8,::1, 192.0.2.1, unix';
    const environment = { ...minimal, RATE_LIMIT: '60', TRUSTED_PROXIES };
    const trustedProxies = ['10.0.0.0/8', '::1', '192.0.2.1', 'unix'];
    expect(config({ environment })).to.deep.include({ rateLimit: 60, trustedProxies });
  });

  it('trusts no proxies that are not addresses', () => {
    for (const TRUSTED_PROXIES of [
      'proxy.example',
      '10.0.0.0/33',
      '0.0.0.0/0',
      '::/0',
      '10.0.0.0/00',
      '::1/129',
      '10.0.0.1,',
      '/8',
      'unix/8',
      'UNIX',
    ]) {
      expect(onlyFault({ environment: { ...minimal, TRUSTED_PROXIES } })).to.equal(
        `--trusted-proxies (TRUSTED_PROXIES) "${TRUSTED_PROXIES}" must be IP addresses or networks (10.0.0.0/8), or unix`,
      );
    }
  });
});
