import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { allowAt } from '../../src/access/allow.ts';
import { checkAccess } from '../../src/check/access.ts';
import { formatConfigFile } from '../../src/config/shown/print.ts';
import { presets } from '../../src/providers/presets.ts';
import type { Provider } from '../../src/providers/provider.ts';
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
    const staff = '{ users: [octocat, 0583231], organizations: example, teams: [example/editors] }';
    const frontEnd = '{ emails: [ada@example.com], email-domains: [example.com, a.example.com] }';
    const text = file(`provider: github, allow: ${staff}`, `allow: ${frontEnd}`);
    const { config } = readFileConfig(text);
    expect(config.registrations[0].allow).to.deep.include({
      users: ['octocat', '0583231'],
      organizations: ['example'],
      teams: ['example/editors'],
    });
    expect(config.frontEnds[0]?.allow).to.deep.include({
      emails: ['ada@example.com'],
      emailDomains: ['example.com', 'a.example.com'],
    });
    const { registrations } = readFileConfig(file('provider: github')).config;
    expect(registrations[0].allow).to.equal(undefined);
  });

  it('has groups whose names have spaces and commas', () => {
    const groups = ['Domain Admins', 'cn=staff,ou=groups,dc=example', 'a b'];
    const rules = `{ groups: ${JSON.stringify(groups)}, groups-claim: roles }`;
    const { config } = readFileConfig(file(`issuer: https://id.example.com, allow: ${rules}`));
    expect(config.registrations[0].allow).to.deep.include({ groups, groupsClaim: 'roles' });
  });

  for (const [allow, expected] of [
    ['{}', ' has no rule'],
    ['', ' is not a map of rules'],
    ['[octocat]', ' is not a map of rules'],
    ['octocat', ' is not a map of rules'],
    ['true', ' is not a map of rules'],
    ['{ users: [] }', '.users is an empty list'],
    ['{ users: }', '.users has no value'],
    ['{ users: [""] }', '.users has no value'],
    ['{ users: [" "] }', '.users must have 1 to 255 characters'],
    ['{ users: ["ada\\u200b"] }', '.users must have 1 to 255 characters'],
    ['{ users: [{ a: b }] }', '.users must be one value, not a map'],
    ['{ user: [octocat] }', '.user is unknown: did you mean users?'],
    ['{ orgs: [example] }', '.orgs is unknown: did you mean organizations?'],
    ['{ domains: [example.com] }', '.domains is unknown: did you mean email-domains?'],
    ['{ Users: [a], users: [b] }', '.Users is unknown: did you mean users?'],
    ['{ organizations: ["../user"] }', '.organizations must be the names'],
    ['{ organizations: [example/editors] }', '.organizations must be the names'],
    ['{ teams: [editors] }', '.teams must be organization/team'],
    ['{ teams: [example/../x] }', '.teams must be organization/team'],
    ['{ emails: ["@example.com"] }', '.emails must be e-mail addresses'],
    ['{ emails: ["p:@example.com"] }', '.emails must be e-mail addresses'],
    ['{ emails: ["mallory@evil.test@example.com"] }', '.emails must be e-mail addresses'],
    ['{ emails: ["p:mallory@evil.test@example.com"] }', '.emails must be e-mail addresses'],
    ['{ emails: ["mallory\\uff20evil.test@example.com"] }', '.emails must be e-mail addresses'],
    ['{ email-domains: ["evil.test@example.com"] }', '.email-domains must be domains'],
    ['{ email-domains: ["@example.com"] }', '.email-domains must be domains'],
    ['{ email-domains: ["*.example.com"] }', '.email-domains must be domains'],
    ['{ email-domains: [example] }', '.email-domains must be domains'],
    ['{ email-domains: [exämple.com] }', '.email-domains must be domains'],
    ['{ groups-claim: roles, users: [a] }', '.groups-claim has no effect'],
    ['{ groups: [staff] }', '.groups cannot be asked at the provider p: GitHub has organizations and teams'],
  ] as const) {
    it(`never lets everybody in by mistake, as with ${allow || 'nothing'}`, () => {
      const fault = faultOf(github(allow));
      expect(fault.startsWith(`providers.p.allow${expected}`), fault).to.equal(true);
    });
  }

  for (const [text, fault] of [
    [file('provider: github, alow: 1'), 'providers.p.alow is unknown: did you mean allow?'],
    [file('provider: github', 'alow: 1'), 'front-ends.app.alow is unknown: did you mean allow?'],
    [file('provider: github, users: [a]'), 'providers.p.users says who may log in: move it into'],
    [`allow: { users: [a] }\n${file('provider: github')}`, 'allow is unknown'],
  ] as const) {
    it(`is a fault in another place, or with a misspelt key: ${fault}`, () => {
      expect(faultOf(text)).to.contain(fault);
    });
  }

  const unsaid = 'the provider does not say that of a person';
  const unnamed =
    'authorize-url: https://git.example/a, token-url: https://git.example/t, token-request: body, user-url: https://git.example/u';
  for (const [provider, rule, reason] of [
    ['provider: google', 'groups', 'the user record of Google has no groups'],
    ['provider: entra, provider-tenant: x', 'emails', 'Microsoft does not say'],
    ['provider: entra, provider-tenant: x', 'email-domains', 'Microsoft does not say'],
    ['provider: slack', 'groups', 'Slack has workspaces'],
    ['provider: discord', 'teams', unsaid],
    ['provider: auth0, provider-host: a.example', 'groups', 'its user record has no groups'],
    ['issuer: https://id.example.com', 'organizations', unsaid],
    // Without a name, it is not known to be GitHub.
    [unnamed, 'organizations', unsaid],
  ] as const) {
    const names = { emails: 'a@example.com', 'email-domains': 'example.com', teams: 'a/b' };
    const name = (names as Record<string, string>)[rule] ?? 'name';

    it(`says why ${provider.slice(0, 40)} cannot answer ${rule}, and also for a front end`, () => {
      const message = `allow.${rule} cannot be asked at the provider p: ${reason}`;
      const allow = `allow: { ${rule}: ["${name}"] }`;
      expect(faultOf(file(`${provider}, ${allow}`))).to.contain(`providers.p.${message}`);
      expect(faultOf(file(provider, allow))).to.contain(`front-ends.app.${message}`);
    });
  }

  it('asks a provider by the rules of its preset, even if only its issuer or host matches the preset', () => {
    const providerOf = (lines: string) =>
      readFileConfig(file(lines)).config.registrations[0].provider as { known: Provider };
    for (const { name, provider } of presets.filter((one) => one.provider.issuer !== undefined)) {
      const { issuer } = provider;
      expect(providerOf(`issuer: ${issuer}`), name).to.deep.equal(providerOf(`provider: ${name}`));
    }
    for (const { name, provider } of presets) {
      const { userUrl = '', access, userRejectedWhen } = provider;
      if (/\{/.test(userUrl)) continue;
      const { known } = providerOf(unnamed.replace('https://git.example/u', userUrl));
      expect(known.access, name).to.equal(access);
      expect(known.userRejectedWhen, name).to.equal(userRejectedWhen);
    }
    const byHand = 'authorize-url: https://accounts.google.com/a, token-url: https://oauth2.googleapis.com/t';
    const elsewhere = `${byHand}, user-url: https://www.googleapis.com/oauth2/v3/userinfo`;
    const google = presets.find(({ name }) => name === 'google');
    expect(providerOf(elsewhere).known.access).to.equal(google?.provider.access);
    const moved = 'issuer: https://accounts.google.com, authorize-url: https://accounts.google.com/x';
    expect(providerOf(moved).known.issuer).to.equal('https://accounts.google.com');
    const cms = file('issuer: https://github.com/login/oauth', 'token-delivery: cms, scope: repo');
    const { warnings } = readFileConfig(`${cms}  other: { origin: https://other.example.com }\n`);
    expect(warnings.join('\n')).to.contain('is used with different scopes');
  });

  describe('of a front end with several providers', () => {
    const google = '  google: { provider: google, client-id: a, client-secret: b }\n';
    const several = (allow: string, more = '') => file('provider: github', `allow: ${allow}${more}`, google);
    const used = 'must have no colon, except after the name of a provider that may be used here: p or google';

    for (const rule of ['users: [ada]', 'users: [583231]', 'organizations: [example]', 'teams: [a/b]']) {
      it(`names the provider of ${rule}`, () => {
        const [key = ''] = rule.split(':');
        const fault = `front-ends.app.allow.${key} must say at which provider, as p:… or google:…`;
        expect(faultOf(several(`{ ${rule} }`))).to.contain(fault);
        const [before, name] = rule.split('[');
        expect(faultsOfFile(several(`{ ${before} ["p:${name?.replace(']', '"]')} }`))).to.be.empty;
        const other = '  other: { origin: https://other.example.com }\n';
        expect(faultsOfFile(several(`{ ${rule} }`, ', providers: [p]') + other)).to.be.empty;
      });
    }

    it('is asked only of the providers that it names', () => {
      expect(faultOf(several('{ organizations: ["google:example"] }'))).to.contain(
        'allow.organizations cannot be asked at the provider google: Google has Workspaces',
      );
    });

    it('warns of addresses that are good at each provider', () => {
      const warningsOf = (names: string) =>
        readFileConfig(
          several(`{ emails: [${names}ada@example.com], email-domains: [${names}example.com] }`),
        ).warnings.filter((warning) => warning.includes('is good at each of its providers'));
      expect(warningsOf('')).to.have.length(2);
      expect(warningsOf('google:')).to.deep.equal([]);
    });

    it('accepts no prefix but the name of a provider that may be used here', () => {
      for (const rule of [
        'organizations: ["githup:example"]',
        'teams: ["githup:a/b"]',
        'email-domains: ["githup:example.com"]',
        'emails: ["githup:ada@example.com"]',
      ]) {
        expect(faultOf(several(`{ ${rule} }`)), rule).to.contain(used);
        expect(faultOf(github(`{ ${rule} }`)), rule).to.contain(used.replace(' or google', ''));
      }
      for (const name of ['githup:ada', 'p:', ':ada', 'P:ada', 'p: ada']) {
        expect(faultOf(several(`{ users: ["${name}"] }`)), name).to.contain('must say at which provider');
      }
    });
  });

  it('of one provider may name the provider, and the name of a group may contain colons', () => {
    const allow = 'allow: { groups: ["p:urn:staff", "urn:staff", "google:staff"] }';
    const issuer = 'issuer: https://id.example.com';
    for (const text of [file(`${issuer}, ${allow}`), file(issuer, allow)]) {
      const { registrations, frontEnds } = readFileConfig(text).config;
      const given = registrations[0].allow ?? frontEnds[0]?.allow ?? {};
      const groups = ['urn:staff', 'urn:staff', 'google:staff'];
      expect(allowAt(given, 'p').groups).to.deep.equal(groups);
    }
  });

  it('is printed so that it has the same meaning when it is read again', () => {
    const text = file(
      'issuer: https://id.example.com, allow: { users: [ada, 0012], groups: [Domain Admins] }',
      'allow: { emails: [ada@example.com] }',
    );
    const printed = formatConfigFile(readFileConfig(text).readings);
    expect(printed).to.contain('groups: Domain Admins');
    const again = readFileConfig(printed.replaceAll(/"?\[secret\]"?/g, 'b')).config;
    const { registrations, frontEnds } = readFileConfig(text).config;
    expect(again.registrations[0].allow).to.deep.equal(registrations[0].allow);
    expect(again.frontEnds[0]?.allow).to.deep.equal(frontEnds[0]?.allow);
  });

  it('is as docs/access.md shows it, with nothing for login-relay check to find', () => {
    const page = readFileSync(new URL('../../docs/access.md', import.meta.url), 'utf8');
    const files = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
    expect(files).to.have.length(4);
    for (const text of files) {
      const secrets = secretFilesOf(text).map((path) => [path, { text: 'secret' }]);
      const { config } = readFileConfig(text, { files: Object.fromEntries(secrets) });
      const findings = checkAccess(config, new Map());
      const verdicts = new Set(findings.map(({ verdict }) => verdict));
      expect([...verdicts], JSON.stringify(findings)).to.deep.equal(['ok']);
    }
  });
});
