import { expect } from 'chai';
import { faults, faultsOfFile, type Given, read, readFileConfig } from './support/read.ts';

const cms = (flags: Given['flags'] = { scope: 'repo' }): Given => ({
  flags: { tokenDelivery: 'cms', ...flags },
});

const setting = '--token-delivery (TOKEN_DELIVERY)';

describe('--token-delivery cms', () => {
  it('always checks the state, and needs no other option at GitHub', () => {
    const { config, warnings } = read(cms());
    expect(config).to.include({ tokenDelivery: 'cms', stateCheck: 'always' });
    expect(config.redirectUris).to.deep.equal([]);
    expect(warnings).to.deep.equal([]);
  });

  it('has its admin page at /admin/ unless the front end URL is another', () => {
    expect(read(cms()).config.frontendUrl).to.equal('https://app.example.com/admin/');
    const frontendUrl = 'https://app.example.com/cms/?a=b';
    expect(read(cms({ frontendUrl })).config.frontendUrl).to.equal(frontendUrl);
  });

  for (const [provider, more] of [
    ['github', { scope: 'repo' }],
    ['github-enterprise', { scope: 'public_repo', providerHost: 'git.example.com' }],
    ['gitlab', { scope: 'api' }],
    ['gitlab', { scope: 'api', providerHost: 'git.example.com' }],
    ['bitbucket', { scope: 'account repository:write' }],
  ] as const) {
    it(`works with ${provider} ${Object.values(more)}`, () => {
      expect(read(cms({ provider, ...more })).warnings).to.deep.equal([]);
    });
  }

  for (const [what, flags] of Object.entries({
    'another preset': { provider: 'google' },
    'an issuer': { issuer: 'https://id.example.com' },
    'URLs of a provider that is not named': {
      authorizeUrl: 'https://id.example.com/authorize',
      tokenUrl: 'https://id.example.com/token',
      userUrl: 'https://id.example.com/user',
    },
  })) {
    it(`is a fault with ${what}`, () => {
      expect(faults(cms(flags))).to.deep.equal([
        `${setting} "cms" works with the provider presets github, github-enterprise, gitlab, bitbucket only`,
      ]);
    });
  }

  for (const [what, flags, scope] of [
    ['no scope', {}, 'repo'],
    ['a scope for the profile alone', { scope: 'read:user' }, 'repo'],
    ["GitLab's own", { provider: 'gitlab' }, 'api'],
    ["Bitbucket's own", { provider: 'bitbucket' }, 'repository:write'],
  ] as const) {
    it(`warns of ${what}, which gives no access to repositories`, () => {
      expect(read(cms(flags)).warnings).to.deep.equal([
        `${setting} is cms, but the scope at provider gives no access to repositories: add ${scope}`,
      ]);
    });
  }

  it('does not warn of the scope of a GitHub App, which has permissions instead', () => {
    expect(read(cms({ clientId: 'Iv23liEXAMPLE' })).warnings).to.deep.equal([]);
  });
});

describe('the addresses of a CMS', () => {
  const origin = 'https://blog.example.com http://localhost:1313 http://localhost:*';
  const blog = (more: object) => ({ flags: { origin, tokenDelivery: 'cms', scope: 'repo', ...more } });

  it('may be several, also with a *, and have no single page', () => {
    const { config, warnings } = read(blog({ refreshTokens: 'bearer' }));
    expect(config.origins).to.deep.equal(origin.split(' '));
    expect(config).to.include({ origin: undefined, frontendUrl: undefined, refreshTokens: 'bearer' });
    expect(warnings.join()).to.contain('has a *: every program that serves pages');
    expect(faults(blog({ frontendUrl: 'https://blog.example.com/admin/' })).join()).to.contain('must not be set if');
  });

  it('are refused under a shared domain, with a path, and for every other delivery', () => {
    for (const [more, why] of [
      [{ origin: 'https://blog.example.com https://*.netlify.app' }, 'anybody can have a name there'],
      [{ origin: 'https://blog.example.com https://*.github.dev' }, 'anybody can have a name there'],
      [{ origin: 'https://blog.example.com/admin https://b.example' }, 'without a path'],
      [{ origin: ' https://blog.example.com' }, 'must be a URL'],
      [{ origin: 'https://blog.example.com null' }, 'must be a URL'],
      [{ origin: 'https://blog.example.com http://blog.example.com' }, 'must start with https://'],
      [{ tokenDelivery: 'code' }, 'must be one origin'],
      [{ tokenDelivery: 'query' }, 'must be one origin'],
    ] as const) {
      expect(faults(blog(more)).join(), JSON.stringify(more)).to.contain(why);
    }
  });
});

describe('a configuration file with token-delivery: cms', () => {
  const providers = `
base-url: https://login.example.com
trusted-proxies: unix
key-file: ./key
providers:
  github: { client-id: one, client-secret: secret, scope: repo }
  staff: { issuer: https://id.example.com, client-id: two, client-secret: secret }
  team: { provider: gitlab, client-id: three, client-secret: secret, scope: api }
front-ends:
`;

  const app = '  app: { origin: https://app.example.com }\n';
  const blog = (name: string, used: string) =>
    `  ${name}: { origin: https://${name}.example.com, token-delivery: cms, providers: [${used}] }\n`;

  it('has a fault for each provider that no CMS knows', () => {
    expect(faultsOfFile(providers + app + blog('blog', 'github, staff'))).to.deep.equal([
      'config.yaml:11:45 front-ends.blog.token-delivery "cms" works with the provider presets github, github-enterprise, gitlab, bitbucket only. staff uses none of them: set its provider, or leave it out of providers',
    ]);
  });

  it('warns that /auth serves the first CMS of each backend', () => {
    const blogs = blog('blog', 'github') + blog('docs', 'github, team') + blog('news', 'team');
    expect(readFileConfig(providers + app + blogs).warnings).to.deep.equal([
      'config.yaml:12:45 front-ends.docs.token-delivery is cms, but /auth serves the front end blog at github: set auth_endpoint to auth/github/docs in its config.yml',
      'config.yaml:13:45 front-ends.news.token-delivery is cms, but /auth serves the front end docs at team: set auth_endpoint to auth/team/news in its config.yml',
    ]);
  });
});
