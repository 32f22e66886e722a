import { expect } from 'chai';
import type { OptionName } from '../../src/config/settings/settings.ts';
import { faults, type Given, known, minimal, onlyFault, read } from './support/read.ts';

const config = (given: Given) => read(given).config;

describe('the provider of the configuration', () => {
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

  it('revokes no tokens at the provider of the preset if another provider issues them', () => {
    const flags = { provider: 'gitlab', providerHost: 'git.example.com' };
    const tokenUrl = 'https://id.example.com/token';
    const revocationUrl = 'https://id.example.com/revoke';
    const revocationOf = (more: Given['flags']) => known({ flags: { ...flags, ...more } }).revocation;
    expect(revocationOf({})?.url).to.equal('https://git.example.com/oauth/revoke');
    expect(revocationOf({ tokenUrl })).to.equal(undefined);
    for (const more of [{ revocationUrl }, { tokenUrl, revocationUrl }]) {
      expect(revocationOf(more)).to.deep.equal({ url: revocationUrl, request: 'rfc7009' });
    }
  });

  it('uses PKCE where the preset does not, if that is configured', () => {
    const flags = { provider: 'bitbucket' };
    expect(known({ flags }).pkce).to.equal(false);
    expect(known({ flags: { ...flags, pkce: 'on' } }).pkce).to.equal(true);
  });

  it('has the percent-encoded client identifier in the revocation URL of GitHub', () => {
    expect(known({ flags: { clientId: 'a/b' } }).revocation?.url).to.include('/a%2Fb/token');
  });

  it('suggests a preset with a similar name', () => {
    for (const [provider, end] of Object.entries({
      githbu: ': did you mean github?',
      somewhere: '',
    })) {
      expect(onlyFault({ flags: { provider } })).to.equal(
        `--provider (PROVIDER) "${provider}" must be one that login-relay providers lists${end}`,
      );
    }
  });

  it('fills in the host and the tenant of a preset', () => {
    const gitlab = known({ flags: { provider: 'gitlab', providerHost: 'git.example.com:8443' } });
    expect(gitlab.userUrl).to.equal('https://git.example.com:8443/api/v4/user');
    const { tokenUrl } = known({ flags: { provider: 'gitlab' } });
    expect(tokenUrl).to.equal('https://gitlab.com/oauth/token');
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
      expect(faults({ flags: { provider: 'gitea', providerHost } }), providerHost).to.have.length(1);
    }
  });

  it('sends version and base URL to providers that require them', () => {
    const flags = { provider: 'discord', baseUrl: 'https://login.example.com/' };
    expect(known({ flags }).requestHeaders?.['user-agent']).to.match(
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
    const proxy = { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'a.example' };
    expect(config({ environment }).proxy).to.deep.equal(proxy);
    const wrong = { ...minimal, HTTPS_PROXY: 'canary:3128' };
    expect(onlyFault({ environment: wrong })).to.match(/^HTTPS_PROXY (?!.*canary)/);
  });

  const addresses: OptionName[] = [
    'baseUrl',
    'origin',
    'authorizeUrl',
    'tokenUrl',
    'userUrl',
    'revocationUrl',
    'issuer',
  ];

  it('has addresses of this machine on plain http, and others only if they are allowed', () => {
    for (const name of addresses) {
      for (const host of ['localhost:3', '127.0.0.1', '127.9.9.9:1', '[::1]:8', 'a.localhost']) {
        const flags = { [name]: `http://${host}` };
        expect(faults({ flags }), `${name} ${host}`).to.deep.equal([]);
      }
      for (const host of ['example.com', '10.0.0.1', 'localhost.example.com', '128.0.0.1']) {
        const flags = { [name]: `http://${host}` };
        expect(faults({ flags }), `${name} ${host}`).to.have.length(1);
        expect(faults({ flags: { ...flags, insecureHttp: 'true' } })).to.deep.equal([]);
      }
    }
  });

  it('warns if the endpoints belong to two providers and --provider is not set', () => {
    const authorizeUrl = 'https://provider.example/authorize';
    const addresses = { authorizeUrl, tokenUrl: authorizeUrl, userUrl: authorizeUrl };
    const issuer = 'https://provider.example';
    const revocationUrl = 'https://provider.example/revoke';
    const { warnings } = read({ flags: { authorizeUrl } });
    expect(warnings).to.have.length(2);
    for (const [index, flag] of ['--token-url', '--user-url'].entries()) {
      expect(warnings[index]).to.match(
        new RegExp(`^${flag} .* is that of github by default, but other endpoints are configured`),
      );
    }
    expect(read({ flags: { revocationUrl } }).warnings).to.have.length(3);
    for (const flags of [
      {},
      { ...addresses, tokenRequest: 'body' },
      { authorizeUrl, provider: 'gitlab' },
      { authorizeUrl, issuer },
      { revocationUrl, provider: 'github' },
    ]) {
      expect(read({ flags }).warnings).to.deep.equal([]);
    }
  });

  it('warns that the secret is in the URL if the endpoints are given by hand, except at GitHub', () => {
    const tokenUrl = 'https://provider.example/token';
    const byHand = { authorizeUrl: tokenUrl, tokenUrl, userUrl: tokenUrl };
    const warningsOf = (flags: NonNullable<Given['flags']>) =>
      read({ flags }).warnings.filter((warning) => warning.startsWith('--token-request'));
    expect(warningsOf(byHand)).to.have.length(1);
    expect(warningsOf(byHand)[0]).to.match(/\(PROVIDER_TOKEN_REQUEST\) .* in the URL/);
    const tokenRequests = ['query', 'body', 'basic', 'basic-raw'];
    for (const flags of [
      ...tokenRequests.map((tokenRequest) => ({ ...byHand, tokenRequest })),
      { ...byHand, tokenUrl: 'https://github.com/login/oauth/access_token?a=b' },
      { ...byHand, provider: 'gitlab' },
      { tokenUrl, issuer: 'https://provider.example' },
    ]) {
      expect(warningsOf(flags)).to.deep.equal([]);
    }
  });

  it('refuses basic-raw for a client identifier with a colon', () => {
    const flags = { clientId: 'client:1', tokenRequest: 'basic-raw' };
    expect(faults({ flags }).join()).to.match(/^--token-request .* has a colon/);
  });

  it('ignores variables that a flag overrides, even if they are malformed', () => {
    const environment = {
      ...minimal,
      PORT: 'eighty',
      PROVIDER_CLIENT_SECRET: 'a\nb',
      PROVIDER: 'nobody',
      PROVIDER_HOST: 'https://',
    };
    const files = { '/secret': { text: 'from the file' } };
    const flags = { port: '8001', clientSecretFile: '/secret', issuer: 'https://id.example' };
    const { port, clientSecret, provider } = config({ flags, environment, files });
    expect([port, clientSecret.reveal()]).to.deep.equal([8001, 'from the file']);
    expect(provider).to.have.nested.property('discovered.issuer', 'https://id.example');
    const overridden = { ...minimal, PROVIDER_ISSUER: 'x' };
    const gitlab = known({ flags: { provider: 'gitlab' }, environment: overridden });
    expect(gitlab.tokenUrl).to.contain('gitlab.com');
  });

  it('refuses alternatives that are both flags or both variables', () => {
    const issuer = 'https://id.example';
    for (const given of [
      { flags: { issuer, provider: 'github' } },
      { environment: { ...minimal, PROVIDER_ISSUER: issuer, PROVIDER: 'github' } },
      { flags: { issuer, provider: 'github' }, environment: { ...minimal, PROVIDER: 'gitlab' } },
    ]) {
      expect(onlyFault(given)).to.contain('are both given');
    }
  });
});
