import { expect } from 'chai';
import { checkAccess } from '../../src/check/access.ts';
import { github } from '../../src/providers/source-code-hosts.ts';
import { readFileConfig } from '../config/support/read.ts';

/** The report of `check` about a configuration. */
function said(provider: string, frontEnd = '', clientId = 'a', scopesSupported?: readonly string[]): readonly string[] {
  const { config } = readFileConfig(`base-url: https://login.example.com
key-file: ./key
providers:
  p: { client-id: ${clientId}, client-secret: b, ${provider} }
front-ends:
  app: { origin: https://app.example.com, ${frontEnd} }
`);
  const described = { ...github.provider, access: undefined, scopesSupported };
  return checkAccess(config, new Map(scopesSupported && [['p', described]])).map(({ verdict, message, fix }) =>
    [verdict, message, fix].join(' | '),
  );
}

describe('login-relay check says who may log in', () => {
  it('in words', () => {
    const allow = 'allow: { users: [octocat, 583231], organizations: [example] }';
    expect(said(`provider: github, scope: read:org, ${allow}`)).to.deep.equal([
      'ok | the users octocat, 583231, or the organization example | ',
    ]);
    expect(said('provider: github, allow: { users: [ada] }', 'allow: { users: ["p:ada", eve] }')).to.deep.equal([
      'ok | the user ada; besides, the users ada, eve | ',
    ]);
  });

  it('and which scope is missing, also in the scope of the front end, in the same finding', () => {
    const allow = 'allow: { teams: [example/editors], email-domains: [example.com] }';
    const missing =
      /^problem \| the team example\/editors, .*, but the scope has no read:org, and no user:email, .*add read:org and user:email to scope$/;
    expect(said(`provider: github, ${allow}`)).to.have.length(1);
    expect(said(`provider: github, ${allow}`)[0]).to.match(missing);
    expect(said(`provider: github, scope: read:org user:email, ${allow}`)[0]).to.match(/^ok \|/);
    expect(said(`provider: github, scope: admin:org user, ${allow}`)[0]).to.match(/^ok \|/);
    expect(said(`provider: github, scope: read:org user:email, ${allow}`, 'scope: repo')[0]).to.match(missing);
    expect(said(`issuer: https://id.example.com, ${allow.replace('teams: [example/editors], ', '')}`)[0]).to.match(
      /^warning .*, but the scope has no email.* add email to scope, if the provider has that; check --login shows/,
    );
  });

  it('and that groups need a scope, unless the issuer does not list it', () => {
    const allow = 'issuer: https://id.example.com, allow: { groups: [staff] }';
    const missing =
      /^warning \| the group staff, but the scope has no groups, .*add groups to scope, if the provider has that; check --login shows/;
    expect(said(allow)[0]).to.match(missing);
    expect(said(allow, '', 'a', ['openid', 'groups'])[0]).to.match(missing);
    const ok = ['ok | the group staff | '];
    expect(said(allow, '', 'a', ['openid'])).to.deep.equal(ok);
    expect(said(`${allow}, scope: openid groups`)).to.deep.equal(ok);
  });

  it('but not that a scope is missing for a GitHub App', () => {
    const allow = 'allow: { organizations: [example] }';
    expect(said(`provider: github, ${allow}`, '', 'Iv1.abc')[0]).to.match(/permissions/);
  });

  it('and warns if everybody may use proxy', () => {
    const session = 'token-delivery: session, proxy: [{ path: /api/github/, url: https://api.github.com/ }]';
    expect(said('provider: github', session)).to.deep.equal([
      'warning | everybody with an account there may use proxy | say who may log in: set allow',
    ]);
    expect(said('provider: github', 'token-delivery: session')).to.deep.equal([]);
  });
});
