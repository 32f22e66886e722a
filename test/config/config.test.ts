import { expect } from 'chai';
import type { OptionName } from '../../src/config/settings/settings.ts';
import { githubAccess } from '../../src/providers/github.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { faults, type Given, type LoginConfig, minimal, read, readWhole } from './support/read.ts';

const config = (given: Given): LoginConfig => read(given).config;

function known(given: Given): Provider {
  const { provider } = config(given);
  if (!('known' in provider)) throw new Error('the provider is not known');
  return provider.known;
}

describe('the configuration', () => {
  it('needs an origin, a client identifier and a secret, and has a default for the rest', () => {
    const { clientSecret, ...rest } = config({});
    expect(clientSecret.reveal()).to.equal('secret');
    expect(rest).to.deep.equal({
      port: 8000,
      host: '127.0.0.1',
      maxConnections: 4096,
      readyPolicy: 'any',
      rateLimit: undefined,
      refusedExchanges: 10,
      trustedProxies: [],
      behindUnknownProxy: false,
      certificate: undefined,
      redirectUri: 'http://localhost:8000/auth/provider/callback',
      kind: 'page',
      clients: undefined,
      clientKeys: undefined,
      origin: 'https://app.example.com',
      frontendUrl: 'https://app.example.com/',
      tokenDelivery: 'query',
      apis: [],
      allow: undefined,
      baseUrl: 'http://localhost:8000',
      errorDelivery: 'json',
      clientId: 'client',
      provider: {
        known: {
          authorizeUrl: 'https://github.com/login/oauth/authorize',
          tokenUrl: 'https://github.com/login/oauth/access_token',
          userUrl: 'https://api.github.com/user',
          clientAuthentication: 'query',
          pkce: true,
          access: githubAccess,
          accountPrompt: 'select_account',
          tokenResponse: { scopeSeparator: ',' },
          refreshTokens: 'by-setting',
          revocation: {
            url: 'https://api.github.com/applications/client/token',
            request: 'github',
            takes: 'access_token',
          },
          issuer: 'https://github.com/login/oauth',
          cms: {
            name: 'github',
            repositoryScopes: ['repo', 'public_repo'],
            apiRoot: 'https://api.github.com',
          },
        },
      },
      pathName: 'provider',
      frontEnd: 'app',
      scope: undefined,
      providerTimeout: 10_000,
      proxy: {},
      stateCheck: 'browsers',
      keyFile: undefined,
      redirectUris: ['https://app.example.com/'],
      refreshTokens: 'bound',
      refreshLifetime: 30 * 24 * 60 * 60,
      sessionLifetime: 7 * 24 * 60 * 60,
      sessionIdle: 24 * 60 * 60,
      registrationsAreNamed: false,
      keySecrets: undefined,
      logLevel: 'info',
      logFormat: undefined,
      logClientAddress: 'off',
      metrics: undefined,
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      sharedMemory: undefined,
      sharedMemoryPasswordFile: undefined,
      sharedMemoryCa: undefined,
      sessionCheck: 'open',
      memory: undefined,
      tlsCert: undefined,
      tlsKey: undefined,
      insecureHttp: false,
      config: undefined,
    });
  });

  it('cannot be changed once it is read', () => {
    expect([readWhole({}).config, known({})].every(Object.isFrozen)).to.equal(true);
  });

  it('prefers the flag to the variable', () => {
    const environment = { ...minimal, PORT: '2' };
    expect(config({ flags: { port: '1' }, environment }).port).to.equal(1);
  });

  it('treats an empty variable as unset', () => {
    expect(config({ environment: { ...minimal, PORT: '', BASE_URL: '' } }).port).to.equal(8000);
  });

  it('builds the callback URL from base URL and path name', () => {
    for (const baseUrl of ['https://login.example.com/relay', 'https://login.example.com/relay/']) {
      expect(config({ flags: { baseUrl, pathName: 'github' } }).redirectUri).to.equal(
        'https://login.example.com/relay/auth/github/callback',
      );
    }
  });

  it('can replace each endpoint of the preset', () => {
    const provider = known({ flags: { userUrl: 'https://ghe.example.com/api/v3/user' } });
    expect(provider.userUrl).to.equal('https://ghe.example.com/api/v3/user');
    expect(provider.tokenUrl).to.equal('https://github.com/login/oauth/access_token');
  });

  it('does not expect the issuer of the preset at another authorization endpoint', () => {
    const authorizeUrl = 'https://ghe.example.com/login/oauth/authorize';
    expect(known({ flags: { authorizeUrl } }).issuer).to.equal(undefined);
  });

  it('does not request refresh tokens as the preset does at another authorization endpoint', () => {
    const flags = { provider: 'google' };
    const authorizeUrl = 'https://id.example.com/authorize';
    expect(known({ flags }).refreshRequest?.parameters).to.have.length(2);
    expect(known({ flags: { ...flags, authorizeUrl } }).refreshRequest).to.equal(undefined);
  });

  it('revokes no tokens at the provider of the preset if another one issues them', () => {
    const flags = { provider: 'gitlab', providerHost: 'git.example.com' };
    const tokenUrl = 'https://id.example.com/token';
    const revocationUrl = 'https://id.example.com/revoke';
    const revocationOf = (more: Given['flags']) =>
      known({ flags: { ...flags, ...more } }).revocation;
    expect(revocationOf({})?.url).to.equal('https://git.example.com/oauth/revoke');
    expect(revocationOf({ tokenUrl })).to.equal(undefined);
    for (const more of [{ revocationUrl }, { tokenUrl, revocationUrl }]) {
      expect(revocationOf(more)).to.deep.equal({ url: revocationUrl, request: 'rfc7009' });
    }
  });

  it('has the percent-encoded client identifier in the revocation URL of GitHub', () => {
    expect(known({ flags: { clientId: 'a/b' } }).revocation?.url).to.include('/a%2Fb/token');
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
    const lines = faults({ environment: { ...minimal, NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^NODE_TLS_REJECT_UNAUTHORIZED /);
  });

  it('quotes a wrong value on one line, without query, fragment and control characters', () => {
    const faultOf = (flags: NonNullable<Given['flags']>) => faults({ flags })[0];
    const quotes = {
      eighty: '"eighty"',
      'a "b"\n\u001b[31m\u009b\u202e': '"a \\"b\\"\\n\\u001b[31m\uFFFD\uFFFD"',
      [`https://${'long.'.repeat(40)}`]: `"https://${'long.'.repeat(40)}`
        .slice(0, 101)
        .concat('…"'),
    };
    for (const [port, quote] of Object.entries(quotes)) {
      expect(faultOf({ port })).to.equal(
        `--port (PORT) ${quote} must be a whole number from 0 to 65535`,
      );
    }
    expect(faultOf({ baseUrl: 'https://a.example/?client_secret=b' })).to.equal(
      '--base-url (BASE_URL) "https://a.example/…" must not have a query',
    );
  });

  it('does not quote a value that is a secret or may contain one', () => {
    const secrets: Given['flags'][] = [
      { clientSecret: 'a\nb' },
      { clientSecretFile: 'b5a1c0de' },
      { keyFile: 'b5a1c0de' },
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
      const lines = faults({ ...(flags && { flags }), environment });
      expect(lines.join('\n')).to.match(/^--[\w-]+ \(\w+\) [a-z]/m);
      expect(lines.join('\n')).not.to.match(/b5a1c0de|0123|"a/);
    }
  });

  it('suggests a preset with a similar name', () => {
    expect(faults({ flags: { provider: 'githbu' } })).to.deep.equal([
      '--provider (PROVIDER) "githbu" must be one that login-relay providers lists: did you mean github?',
    ]);
    expect(faults({ flags: { provider: 'somewhere' } })).to.deep.equal([
      '--provider (PROVIDER) "somewhere" must be one that login-relay providers lists',
    ]);
  });

  it('ignores variables that a flag overrides, even malformed ones', () => {
    const environment = {
      ...minimal,
      PORT: 'eighty',
      PROVIDER_CLIENT_SECRET: 'a\nb',
      PROVIDER: 'nobody',
      PROVIDER_HOST: 'https://',
    };
    const files = { '/secret': { text: 'from the file' } };
    const flags = {
      port: '8001',
      clientSecretFile: '/secret',
      issuer: 'https://id.example',
    };
    const { port, clientSecret, provider } = config({ flags, environment, files });
    expect([port, clientSecret.reveal()]).to.deep.equal([8001, 'from the file']);
    expect(provider).to.have.nested.property('discovered.issuer', 'https://id.example');
    expect(
      known({ flags: { provider: 'gitlab' }, environment: { ...minimal, PROVIDER_ISSUER: 'x' } })
        .tokenUrl,
    ).to.contain('gitlab.com');
  });

  it('refuses alternatives that are both flags or both variables', () => {
    const issuer = 'https://id.example';
    for (const given of [
      { flags: { issuer, provider: 'github' } },
      { environment: { ...minimal, PROVIDER_ISSUER: issuer, PROVIDER: 'github' } },
      { flags: { issuer, provider: 'github' }, environment: { ...minimal, PROVIDER: 'gitlab' } },
    ]) {
      expect(faults(given)).to.have.length(1);
      expect(faults(given)[0]).to.contain('are both given');
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
        const lines = faults({ environment: { ...minimal, [name]: value } });
        expect(lines, value).to.have.length(1);
        expect(lines[0]).to.match(new RegExp(`^${name} must not `));
      }
    }
    const harmless = { NODE_DEBUG: '', NODE_OPTIONS: '--max-old-space-size=512' };
    expect(faults({ environment: { ...minimal, ...harmless } })).to.deep.equal([]);
  });

  it('refuses a flag that is given twice', () => {
    expect(faults({ flags: { port: ['1', '2'] } })).to.deep.equal([
      '--port (PORT) is given more than once',
    ]);
  });

  it('needs a base URL with port 0', () => {
    expect(faults({ flags: { port: '0' } })[0]).to.match(/^--base-url \(BASE_URL\) is required/);
    expect(config({ flags: { port: '0', baseUrl: 'http://localhost:1' } }).port).to.equal(0);
  });

  describe('of the provider', () => {
    it('fills in the host and the tenant of a preset', () => {
      const gitlab = known({ flags: { provider: 'gitlab', providerHost: 'git.example.com:8443' } });
      expect(gitlab.userUrl).to.equal('https://git.example.com:8443/api/v4/user');
      expect(known({ flags: { provider: 'gitlab' } }).tokenUrl).to.equal(
        'https://gitlab.com/oauth/token',
      );
      const host = { providerHost: 'sso.example.com/auth', providerTenant: 'main' };
      expect(known({ flags: { provider: 'keycloak', ...host } }).tokenUrl).to.equal(
        'https://sso.example.com/auth/realms/main/protocol/openid-connect/token',
      );
    });

    it('needs the host and tenant of the preset, and refuses them otherwise', () => {
      for (const [flags, count] of [
        [{ provider: 'keycloak' }, 2],
        [{ provider: 'github', providerHost: 'a.example' }, 1],
        [{ provider: 'github', providerTenant: 'a' }, 1],
        [{ provider: 'nobody' }, 1],
      ] as const) {
        expect(faults({ flags })).to.have.length(count);
      }
    });

    it('accepts only a host name that is not a metadata service', () => {
      const refused = ['https://a.example', 'a.example/?b', 'a@b.example', '169.254.169.254', ''];
      for (const providerHost of refused) {
        const flags = { provider: 'gitea', providerHost };
        expect(faults({ flags }), providerHost).to.have.length(1);
      }
    });

    it('sends version and base URL to providers that require them', () => {
      const discord = known({
        flags: { provider: 'discord', baseUrl: 'https://login.example.com/' },
      });
      expect(discord.requestHeaders?.['user-agent']).to.match(
        /^DiscordBot \(https:\/\/login\.example\.com, \d+\.\d+\.\d+\)$/,
      );
    });

    it('accepts an issuer instead of a preset, but not both', () => {
      const issuer = 'https://sso.example.com/realms/main';
      expect(config({ flags: { issuer, scope: 'openid email' } }).provider).to.deep.equal({
        discovered: { issuer, given: { scope: 'openid email' }, insecureHttp: false },
      });
      expect(faults({ flags: { issuer, provider: 'gitlab' } })).to.have.length(1);
      expect(faults({ flags: { issuer: 'https://sso.example.com?a' } })).to.have.length(1);
    });

    it('reads the proxy variables, in upper or lower case', () => {
      const environment = { ...minimal, https_proxy: 'http://proxy:3128', NO_PROXY: 'a.example' };
      expect(config({ environment }).proxy).to.deep.equal({
        HTTPS_PROXY: 'http://proxy:3128',
        NO_PROXY: 'a.example',
      });
      const lines = faults({ environment: { ...minimal, HTTPS_PROXY: 'canary:3128' } });
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(/^HTTPS_PROXY (?!.*canary)/);
    });
  });

  describe('on plain http', () => {
    const addresses: OptionName[] = [
      ...(['baseUrl', 'origin', 'authorizeUrl', 'tokenUrl', 'userUrl', 'revocationUrl'] as const),
      'issuer',
    ];

    it('accepts addresses of this machine', () => {
      for (const name of addresses) {
        for (const host of ['localhost:3', '127.0.0.1', '127.9.9.9:1', '[::1]:8', 'a.localhost']) {
          const flags = { [name]: `http://${host}` };
          expect(faults({ flags }), `${name} ${host}`).to.deep.equal([]);
        }
      }
    });

    it('refuses addresses beyond this machine, unless they are allowed', () => {
      for (const name of addresses) {
        for (const host of ['example.com', '10.0.0.1', 'localhost.example.com', '128.0.0.1']) {
          const flags = { [name]: `http://${host}` };
          expect(faults({ flags }), `${name} ${host}`).to.have.length(1);
          expect(faults({ flags: { ...flags, insecureHttp: 'true' } })).to.deep.equal([]);
        }
      }
    });
  });

  describe('the client secret', () => {
    const bare = { FRONTEND_ORIGIN: minimal.FRONTEND_ORIGIN, PROVIDER_CLIENT_ID: 'client' };
    const files = {
      '/file': { text: 'from file\n' },
      '/cred/provider-client-secret': { text: 'from credential' },
    };
    const secretOf = (given: Given) => config({ files, ...given }).clientSecret.reveal();

    it('comes from the flags, else the variables, else the systemd credential', () => {
      const credential = { ...bare, CREDENTIALS_DIRECTORY: '/cred' };
      const variable = { ...credential, PROVIDER_CLIENT_SECRET: 'from variable' };
      const fileVariable = { ...credential, PROVIDER_CLIENT_SECRET_FILE: '/file' };
      expect(secretOf({ environment: credential })).to.equal('from credential');
      expect(secretOf({ environment: variable })).to.equal('from variable');
      expect(secretOf({ environment: fileVariable })).to.equal('from file');
      expect(secretOf({ environment: variable, flags: { clientSecretFile: '/file' } })).to.equal(
        'from file',
      );
      expect(
        secretOf({ environment: fileVariable, flags: { clientSecret: 'from flag' } }),
      ).to.equal('from flag');
    });

    it('is missing if the systemd credential is missing or empty, and the fault says where to put it', () => {
      const environment = { ...bare, CREDENTIALS_DIRECTORY: '/cred' };
      for (const given of [{}, { '/cred/provider-client-secret': { text: '\n' } }]) {
        const [fault, ...others] = faults({ environment, files: given });
        expect(fault).to.contain('/etc/login-relay/client-secret').and.contain('systemd');
        expect(others).to.deep.equal([]);
      }
    });

    it('is the content of its file without the final newline', () => {
      const given = { flags: { clientSecretFile: '/f' }, environment: bare };
      for (const text of ['a b', 'a b\n', 'a b\r\n']) {
        expect(secretOf({ ...given, files: { '/f': { text } } })).to.equal('a b');
      }
    });

    it('is refused if it is given in two ways, empty, not one line, or unreadable', () => {
      const bad: Given[] = [
        { flags: { clientSecret: 'a', clientSecretFile: '/file' }, environment: bare },
        { environment: { ...minimal, PROVIDER_CLIENT_SECRET_FILE: '/file' } },
        { flags: { clientSecretFile: '/empty' }, environment: bare },
        { flags: { clientSecretFile: '/newline' }, environment: bare },
        { flags: { clientSecretFile: '/lines' }, environment: bare },
        { flags: { clientSecretFile: '/missing' }, environment: bare },
        { environment: { ...bare, CREDENTIALS_DIRECTORY: '/missing' } },
        { environment: bare },
      ];
      for (const given of bad) {
        const lines = faults({
          files: { ...files, '/empty': {}, '/newline': { text: '\n' }, '/lines': { text: 'a\nb' } },
          ...given,
        });
        expect(lines, JSON.stringify(given)).to.have.length(1);
        expect(lines[0]).to.match(/^--client-secret/);
      }
    });

    it('causes a warning if every user can read its file', () => {
      const { warnings } = read({
        files: { '/open': { text: 'a', readableByOthers: true } },
        flags: { clientSecretFile: '/open' },
        environment: bare,
      });
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(/^--client-secret-file .* every user can read/);
      expect(read({}).warnings).to.deep.equal([]);
    });

    it('causes a warning if it starts or ends with a space', () => {
      const environment = { ...minimal, PROVIDER_CLIENT_SECRET: ' secret' };
      expect(read({ environment }).warnings.join()).to.match(/^--client-secret .* space/);
      expect(config({ environment }).clientSecret.reveal()).to.equal(' secret');
    });
  });

  it('warns if the endpoints belong to two providers and --provider is not set', () => {
    const authorizeUrl = 'https://provider.example/authorize';
    const addresses = { authorizeUrl, tokenUrl: authorizeUrl, userUrl: authorizeUrl };
    const all = { ...addresses, tokenRequest: 'body' };
    const { warnings } = read({ flags: { authorizeUrl } });
    expect(warnings).to.have.length(2);
    expect(warnings[0]).to.match(
      /^--token-url .* is that of github by default, but other endpoints are configured/,
    );
    expect(warnings[1]).to.match(
      /^--user-url .* is that of github by default, but other endpoints are configured/,
    );
    for (const flags of [{}, all, { authorizeUrl, provider: 'gitlab' }]) {
      expect(read({ flags }).warnings).to.deep.equal([]);
    }
    const issuer = 'https://provider.example';
    expect(read({ flags: { authorizeUrl, issuer } }).warnings).to.deep.equal([]);
  });

  it('warns that the secret is in the URL if the endpoints are given by hand, except at GitHub', () => {
    const tokenUrl = 'https://provider.example/token';
    const byHand = { authorizeUrl: tokenUrl, tokenUrl, userUrl: tokenUrl };
    const warningsOf = (flags: NonNullable<Given['flags']>) =>
      read({ flags }).warnings.filter((warning) => warning.startsWith('--token-request'));
    expect(warningsOf(byHand)).to.have.length(1);
    expect(warningsOf(byHand)[0]).to.match(/\(PROVIDER_TOKEN_REQUEST\) .* in the URL/);
    for (const tokenRequest of ['query', 'body', 'basic', 'basic-raw']) {
      expect(warningsOf({ ...byHand, tokenRequest })).to.deep.equal([]);
    }
    const atGitHub = { ...byHand, tokenUrl: 'https://github.com/login/oauth/access_token?a=b' };
    expect(warningsOf(atGitHub)).to.deep.equal([]);
    expect(warningsOf({ ...byHand, provider: 'gitlab' })).to.deep.equal([]);
    expect(warningsOf({ tokenUrl, issuer: 'https://provider.example' })).to.deep.equal([]);
  });

  it('refuses basic-raw for a client identifier with a colon', () => {
    const flags = { clientId: 'client:1', tokenRequest: 'basic-raw' };
    expect(faults({ flags }).join()).to.match(/^--token-request .* has a colon/);
  });

  it('warns that PKCE needs a state', () => {
    const flags = { pkce: 'on', stateCheck: 'off' };
    expect(read({ flags }).warnings.join()).to.match(/^--pkce .* has no effect with --state-check/);
  });

  describe('the rate limit', () => {
    it('accepts addresses and networks of trusted proxies', () => {
      const environment = {
        ...minimal,
        RATE_LIMIT: '60',
        TRUSTED_PROXIES: '10.0.0.0/8,::1, 192.0.2.1',
      };
      expect(config({ environment })).to.deep.include({
        rateLimit: 60,
        trustedProxies: ['10.0.0.0/8', '::1', '192.0.2.1'],
      });
    });

    it('can trust all proxies that connect through a Unix socket', () => {
      const environment = { ...minimal, TRUSTED_PROXIES: 'unix, 10.0.0.0/8' };
      const { config: found, warnings } = read({ environment });
      expect(found.trustedProxies).to.deep.equal(['unix', '10.0.0.0/8']);
      expect(warnings).to.deep.equal([]);
    });

    it('refuses proxies that are not addresses', () => {
      for (const TRUSTED_PROXIES of [
        ...['proxy.example', '10.0.0.0/33', '0.0.0.0/0', '::/0', '10.0.0.0/00', '::1/129'],
        ...['10.0.0.1,', '/8', 'unix/8', 'UNIX'],
      ]) {
        const found = faults({ environment: { ...minimal, RATE_LIMIT: '1', TRUSTED_PROXIES } });
        expect(found, TRUSTED_PROXIES).to.deep.equal([
          `--trusted-proxies (TRUSTED_PROXIES) "${TRUSTED_PROXIES}" must be IP addresses or networks (10.0.0.0/8), or unix`,
        ]);
      }
    });

    it('causes a warning if it counts a proxy, or if trusted proxies have no effect', () => {
      const { warnings } = read({
        environment: { ...minimal, BASE_URL: 'https://relay.example', RATE_LIMIT: '60' },
      });
      expect(warnings.join()).to.match(/^--rate-limit .* counts everyone as one client/);
      const useless = read({
        environment: { ...minimal, TRUSTED_PROXIES: '::1', REFUSED_EXCHANGES: '0' },
      });
      expect(useless.warnings.join()).to.match(/^--trusted-proxies .* has no effect/);
    });
  });

  it('warns of settings that have no effect', () => {
    const files = { '/key': { text: 'k'.repeat(32) } };
    const warningsOf = (given: Given) => read({ files, ...given }).warnings;
    expect(warningsOf({ flags: { metricsHost: '0.0.0.0' } })).to.deep.equal([
      '--metrics-host (METRICS_HOST) has no effect without --metrics-port (METRICS_PORT)',
    ]);
    expect(warningsOf({ flags: { keyFile: '/key', stateCheck: 'off' } })).to.deep.equal([
      '--key-file (KEY_FILE) has no effect with --state-check (STATE_CHECK) off',
    ]);
    expect(warningsOf({ flags: { metricsHost: '0.0.0.0', metricsPort: '9001' } })).to.deep.equal(
      [],
    );
    expect(warningsOf({ flags: { keyFile: '/key' } })).to.deep.equal([]);
  });

  it("warns if the log shows the proxy's address instead of the client's", () => {
    const flags = {
      logClientAddress: 'cut',
      baseUrl: 'https://relay.example',
      refreshTokens: 'off',
    };
    const [first = '', ...others] = read({ flags }).warnings;
    expect(first).to.match(/^--log-client-address .*--trusted-proxies/);
    expect(others.join()).to.not.contain('--log-client-address');
    const trusting = read({ flags: { ...flags, trustedProxies: '127.0.0.1' } });
    expect(trusting.warnings).to.deep.equal([]);
  });

  describe('the limit of refused exchanges', () => {
    const BASE_URL = 'https://relay.example';
    const withoutRefresh = { ...minimal, REFRESH_TOKENS: 'off' };

    it('causes a warning if a proxy terminates TLS and none is trusted, because it has no effect', () => {
      const behind = read({ environment: { ...withoutRefresh, BASE_URL } });
      expect(behind.config.behindUnknownProxy).to.equal(true);
      expect(behind.warnings).to.have.length(1);
      expect(behind.warnings[0]).to.match(
        /^--refused-exchanges .* has no effect.*--trusted-proxies/,
      );
    });

    it('causes no warning if the proxy is trusted, if there is none, or without a limit', () => {
      for (const environment of [
        { BASE_URL, TRUSTED_PROXIES: '127.0.0.1' },
        { BASE_URL: 'http://localhost:8000' },
        { BASE_URL, REFUSED_EXCHANGES: '0' },
      ]) {
        expect(read({ environment: { ...withoutRefresh, ...environment } }).warnings).to.deep.equal(
          [],
        );
      }
    });
  });
});
