import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { checkAccess } from '../../src/check/access.ts';
import { printFile } from '../../src/config/file/print.ts';
import { faultsOfFile, readFileConfig, secretFilesOf } from '../config/support/read.ts';

const file = (provider: string, frontEnd = '', more = '') => `base-url: https://login.example.com
key-file: ./key
providers:
  p: { client-id: a, client-secret: b, ${provider} }
${more}front-ends:
  app: { origin: https://app.example.com, ${frontEnd} }
`;
const github = (allow: string) => file(`provider: github, allow: ${allow}`);

/** The only fault, without its place. */
function faultOf(text: string): string {
  const faults = faultsOfFile(text);
  expect(faults, faults.join('\n')).to.have.length(1);
  return (faults[0] ?? '').replace(/^config\.yaml:\d+:\d+ /, '');
}

describe('allow', () => {
  it('is a list of rules for a provider and for a front end', () => {
    const { config } = readFileConfig(
      file(
        'provider: github, allow: { users: [octocat, 0583231], organizations: example, teams: [example/editors] }',
        'allow: { emails: [ada@example.com], email-domains: [example.com, a.example.com] }',
      ),
    );
    expect(config.registrations[0].allow).to.deep.include({
      users: ['octocat', '0583231'],
      organizations: ['example'],
      teams: ['example/editors'],
    });
    expect(config.frontEnds[0].allow).to.deep.include({
      emails: ['ada@example.com'],
      emailDomains: ['example.com', 'a.example.com'],
    });
    expect(readFileConfig(file('provider: github')).config.registrations[0].allow).to.equal(
      undefined,
    );
  });

  it('has groups whose names have spaces and commas', () => {
    const groups = ['Domain Admins', 'cn=staff,ou=groups,dc=example', 'a b'];
    const { config } = readFileConfig(
      file(
        `issuer: https://id.example.com, allow: { groups: ${JSON.stringify(groups)}, groups-claim: roles }`,
      ),
    );
    expect(config.registrations[0].allow).to.deep.include({ groups, groupsClaim: 'roles' });
  });

  for (const [allow, fault] of [
    ['{}', 'providers.p.allow has no rule'],
    ['', 'providers.p.allow is not a map of rules'],
    ['[octocat]', 'providers.p.allow is not a map of rules'],
    ['octocat', 'providers.p.allow is not a map of rules'],
    ['true', 'providers.p.allow is not a map of rules'],
    ['{ users: [] }', 'providers.p.allow.users is an empty list'],
    ['{ users: }', 'providers.p.allow.users has no value'],
    ['{ users: [""] }', 'providers.p.allow.users has no value'],
    ['{ users: [" "] }', 'providers.p.allow.users must be of 1 to 255 characters'],
    ['{ users: ["ada\\u200b"] }', 'providers.p.allow.users must be of 1 to 255 characters'],
    ['{ users: [{ a: b }] }', 'providers.p.allow.users must be one value, not a map'],
    ['{ user: [octocat] }', 'providers.p.allow.user is unknown: did you mean users?'],
    ['{ orgs: [example] }', 'providers.p.allow.orgs is unknown'],
    ['{ Users: [a], users: [b] }', 'providers.p.allow.Users is unknown: did you mean users?'],
    ['{ organizations: ["../user"] }', 'providers.p.allow.organizations must be the names'],
    ['{ organizations: [example/editors] }', 'providers.p.allow.organizations must be the names'],
    ['{ teams: [editors] }', 'providers.p.allow.teams must be organization/team'],
    ['{ teams: [example/../x] }', 'providers.p.allow.teams must be organization/team'],
    ['{ emails: ["@example.com"] }', 'providers.p.allow.emails must be e-mail addresses'],
    ['{ email-domains: ["@example.com"] }', 'providers.p.allow.email-domains must be domains'],
    ['{ email-domains: ["*.example.com"] }', 'providers.p.allow.email-domains must be domains'],
    ['{ email-domains: [example] }', 'providers.p.allow.email-domains must be domains'],
    ['{ email-domains: [exämple.com] }', 'providers.p.allow.email-domains must be domains'],
    ['{ groups-claim: roles, users: [a] }', 'providers.p.allow.groups-claim has no effect'],
    [
      '{ groups: [staff] }',
      'providers.p.allow.groups cannot be asked at the provider p: GitHub has organizations and teams',
    ],
  ] as const) {
    it(`never lets everybody in by mistake: ${allow || 'nothing'}`, () => {
      expect(faultOf(github(allow)).slice(0, fault.length)).to.equal(fault);
    });
  }

  it('is a fault if its key is misspelt', () => {
    expect(faultOf(file('provider: github, alow: { users: [a] }'))).to.equal(
      'providers.p.alow is unknown: did you mean allow?',
    );
    expect(faultOf(file('provider: github', 'alow: { users: [a] }'))).to.equal(
      'front-ends.app.alow is unknown: did you mean allow?',
    );
    expect(faultOf(file('provider: github, users: [a]'))).to.equal(
      'providers.p.users says who may log in: move it into allow, in a provider or a front end',
    );
    expect(faultOf(`allow: { users: [a] }\n${file('provider: github')}`)).to.match(
      /allow is unknown/,
    );
  });

  for (const [provider, rule, reason] of [
    ['provider: google', 'groups', 'the user record of Google has no groups'],
    [
      'provider: entra, provider-tenant: x',
      'emails',
      'Microsoft does not say that an address is verified',
    ],
    ['provider: entra, provider-tenant: x', 'email-domains', 'Microsoft does not say'],
    ['provider: slack', 'groups', 'Slack has workspaces'],
    ['provider: discord', 'teams', 'the provider does not say that of a person'],
    [
      'provider: auth0, provider-host: a.example',
      'groups',
      'its user record has no groups: set groups-claim',
    ],
    [
      'issuer: https://id.example.com',
      'organizations',
      'the provider does not say that of a person',
    ],
    // Without a name, it is not known to be GitHub.
    [
      'authorize-url: https://git.example/a, token-url: https://git.example/t, token-request: body, user-url: https://git.example/u',
      'organizations',
      'the provider does not say that of a person',
    ],
  ] as const) {
    const names = { emails: 'a@example.com', 'email-domains': 'example.com', teams: 'a/b' };
    const name = (names as Record<string, string>)[rule] ?? 'name';

    it(`says why ${provider.slice(0, 40)} cannot answer ${rule}, for a front end too`, () => {
      const message = `cannot be asked at the provider p: ${reason}`;
      const allow = `allow: { ${rule}: ["${name}"] }`;
      expect(faultOf(file(`${provider}, ${allow}`))).to.contain(
        `providers.p.allow.${rule} ${message}`,
      );
      expect(faultOf(file(provider, allow))).to.contain(`front-ends.app.allow.${rule} ${message}`);
    });
  }

  it('of a front end must be answered by each of its providers', () => {
    const google = '  g: { provider: google, client-id: a, client-secret: b }\n';
    const allow = 'allow: { organizations: [example] }';
    expect(faultOf(file('provider: github', allow, google))).to.contain(
      'front-ends.app.allow.organizations cannot be asked at the provider g: Google has Workspaces',
    );
    const other = '  other: { origin: https://other.example.com }\n';
    const text = file('provider: github', `${allow}, providers: [p]`, google) + other;
    expect(faultsOfFile(text)).to.deep.equal([]);
  });

  it('is printed so that it means the same if it is read again', () => {
    const text = file(
      'issuer: https://id.example.com, allow: { users: [ada, 0012], groups: [Domain Admins] }',
      'allow: { emails: [ada@example.com] }',
    );
    const printed = printFile(readFileConfig(text).readings);
    expect(printed).to.contain('groups: Domain Admins');
    const again = readFileConfig(printed.replaceAll(/"?\[secret\]"?/g, 'b')).config;
    const { registrations, frontEnds } = readFileConfig(text).config;
    expect(again.registrations[0].allow).to.deep.equal(registrations[0].allow);
    expect(again.frontEnds[0].allow).to.deep.equal(frontEnds[0].allow);
  });

  it('is as docs/access.md shows it, with nothing for login-relay check to find', () => {
    const page = readFileSync(new URL('../../docs/access.md', import.meta.url), 'utf8');
    const files = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
    expect(files).to.have.length(4);
    for (const text of files) {
      const paths = secretFilesOf(text).map((path) => path.replace(/[ ,}]+$/, ''));
      const secrets = paths.map((path) => [path, { text: 'secret' }]);
      const { config } = readFileConfig(text, { files: Object.fromEntries(secrets) });
      const findings = checkAccess(config, new Map());
      expect(findings.map(({ verdict }) => verdict)).to.deep.equal(
        findings.map(() => 'ok'),
        JSON.stringify(findings),
      );
      expect(findings.length).to.be.greaterThan(0);
    }
  });
});
