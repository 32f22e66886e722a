import { Ajv } from 'ajv';
import { expect } from 'chai';
import { parse } from 'yaml';
import { formatChangedSettings, formatConfigFile, formatMigratedFile } from '../../src/config/shown/print.ts';
import { configFileSchema } from '../../src/config/shown/schema.ts';
import { faultsOfFile, readFileConfig } from './support/read.ts';

/** A file with three providers, and a resource that opens to browsers. */
function file(wiki: string, { providers = '', frontEnds = app, more = '' } = {}) {
  return `base-url: https://login.example.com
key-file: ./key
trusted-proxies: 127.0.0.1
providers:
  github: { client-id: a, client-secret: b, scope: 'read:org user:email' }
  google: { client-id: c, client-secret: d }
  staff: { issuer: https://id.example.com, client-id: e, client-secret: f${providers} }
resources:
  wiki: { url: https://wiki.example.com/, browser: true, ${wiki} }
${more}
${frontEnds}`;
}

/** A page that uses the API of each provider, so that none is unused. */
const app = 'front-ends: { app: { origin: https://a.example.com } }';

const withoutPlace = (message: string) => message.replace(/^config\.yaml:\d+:\d+ resources\.wiki\./, '');
const faults = (...given: Parameters<typeof file>) => faultsOfFile(file(...given)).map(withoutPlace);
const warnings = (...given: Parameters<typeof file>) =>
  readFileConfig(file(...given))
    .warnings.filter((one) => one.includes('resources.'))
    .map(withoutPlace);

describe('the providers of a resource', () => {
  it('are a single provider, or a list whose order is kept', () => {
    for (const [value, registrations, idsNameProvider] of [
      ['github', ['github'], false],
      ['[github]', ['github'], true],
      ['[google, github]', ['google', 'github'], true],
      ['[staff, github, google]', ['staff', 'github', 'google'], true],
    ] as const) {
      const [wiki] = readFileConfig(file(`provider: ${value}`)).config.resources;
      expect(wiki, value).to.deep.include({ registrations, idsNameProvider });
    }
  });

  it('can be a list through an alias', () => {
    const text = file('provider: &both [google, github]', {
      more: '  board: { url: https://board.example.com/, browser: true, provider: *both }',
    });
    const { config } = readFileConfig(text);
    expect(config.resources.map((one) => one.registrations)).to.deep.equal([
      ['google', 'github'],
      ['google', 'github'],
    ]);
  });

  const which = 'github:… or google:…';
  for (const [what, wiki, ...expected] of [
    ['an empty list', 'provider: []', 'provider is an empty list'],
    ['a name twice', 'provider: [github, github]', 'provider number 2 names a provider that the list has already'],
    [
      'a name twice, an unknown one, and a rule without a provider',
      'provider: [github, github, other, google], allow: { users: [ada] }',
      'provider number 2 names a provider that the list has already',
      'provider number 3 names a provider that is not configured',
      'allow.users must say at which provider, as github:… or other:… or google:…',
    ],
    [
      'an unknown name',
      'provider: [github, gogle]',
      'provider number 2 names a provider that is not configured: did you mean google?',
    ],
    [
      'two unknown names',
      'provider: [nobody, somebody]',
      'provider number 1 names a provider that is not configured',
      'provider number 2 names a provider that is not configured',
    ],
    ['a list in a list', 'provider: [github, [google]]', 'provider number 2 must be one value, not a list'],
    [
      'no provider at all, and rules that name one',
      'allow: { organizations: [github:example], email-domains: [google:example.com] }',
      'provider is required, because there are several providers',
    ],
    ['no name', 'provider: [github, null]', 'provider number 2 has no value'],
    [
      'rules without a provider',
      'provider: [github, google], allow: { users: [ada], organizations: [example], teams: [example/a], groups: [b] }',
      `allow.users must say at which provider, as ${which}`,
      `allow.organizations must say at which provider, as ${which}`,
      `allow.teams must say at which provider, as ${which}`,
      `allow.groups must say at which provider, as ${which}`,
    ],
    [
      'a rule of a provider that is not in the list',
      'provider: [github, google], allow: { organizations: [staff:example], emails: ["staff:ada@example.com"] }',
      'allow.organizations must have no colon, except after the name of a provider that may be used here: github or google',
      'allow.emails must have no colon, except after the name of a provider that may be used here: github or google',
    ],
    [
      'a rule that its provider cannot answer',
      'provider: [github, google], allow: { organizations: [google:example, github:example] }',
      'allow.organizations cannot be asked at the provider google: Google has Workspaces',
    ],
    [
      'a claim that no provider can answer',
      'provider: [google], identity: [groups]',
      'identity has groups, which the provider google does not say: the user record of Google has no groups',
    ],
    [
      'a token of the provider',
      'provider: [github], upstream: http://127.0.0.1:9000/, token: provider',
      'token must not be provider with browser: the cookie holds no token of the provider',
    ],
    [
      'a server that could send the token of one to the other',
      'provider: [github, google], upstream: http://127.0.0.1:9000/, token: provider',
      'token is provider, but there are several: the server could send a token of github to google',
      'token must not be provider with browser',
    ],
  ] as const) {
    it(`are refused with ${what}, all faults at once`, () => {
      const found = faults(wiki);
      for (const [index, fault] of expected.entries()) expect(found[index], found.join('\n')).to.include(fault);
      expect(found, found.join('\n')).to.have.length(expected.length);
    });
  }

  it('have the place of the list in each fault, and no fault that follows from another', () => {
    const found = faultsOfFile(
      file('provider: [github, third], allow: { users: [third:a, b] }', {
        more: '  board: { url: https://board.example.com/, browser: true, provider: [google, google] }\n  notes: { url: https://notes.example.com/, browser: true }',
      }),
    );
    expect(found.map((fault) => fault.replace(/: did.*| because.*|,? as .*/, ''))).to.deep.equal([
      'config.yaml:9:58 resources.wiki.provider number 2 names a provider that is not configured',
      'config.yaml:9:94 resources.wiki.allow.users must say at which provider',
      'config.yaml:10:60 resources.board.provider number 2 names a provider that the list has already',
      'config.yaml:11:3 resources.notes.provider is required,',
    ]);
  });

  it('are refused if people could not tell them apart', () => {
    const same = { providers: ', title: GitHub' };
    expect(faults('provider: [github, staff]', same)).to.deep.equal([
      'provider has github and staff, which people cannot tell apart: both have the title GitHub',
    ]);
    expect(faults('provider: [github, google]', same)).to.deep.equal([]);
  });

  it('are refused if an application could confuse their ids, because it ignores case', () => {
    const text = file('provider: [github, GitHub]').replace(
      'resources:',
      '  GitHub: { provider: github, client-id: g, client-secret: h }\nresources:',
    );
    expect(faultsOfFile(text).map(withoutPlace)).to.deep.equal([
      'provider has github and GitHub, which differ only in case',
    ]);
  });

  it('are told of if `allow` lets none of their people in, or if they do not say a claim', () => {
    expect(warnings('provider: [github, google], allow: { organizations: [github:example] }')).to.deep.equal([
      'provider has google, but no entry of its allow lets people of google in',
    ]);
    expect(warnings('provider: [github, google], allow: { email-domains: [example.com] }').join()).to.match(
      /^allow.email-domains is good at each of its providers: say at which provider/,
    );
    const [warning, ...others] = warnings('provider: [github, google], identity: [email, groups]');
    expect(warning).to.match(
      /^identity has groups, which the provider google does not say: .*\. Its people have none$/,
    );
    expect(others).to.deep.equal([]);
  });

  it('each decide by the claim of its own `allow` what the resource learns', () => {
    const providers = ', allow: { groups: [a], groups-claim: roles }';
    const { config } = readFileConfig(
      file('provider: [google, github, staff], identity: [email, groups]', { providers }),
    );
    expect(Object.fromEntries(config.resources[0]?.identities ?? [])).to.deep.equal({
      google: { claims: ['email'], groupsClaim: undefined },
      github: { claims: ['email', 'groups'], groupsClaim: undefined },
      staff: { claims: ['email', 'groups'], groupsClaim: 'roles' },
    });
  });

  it('have the names of their presets for people, or their own', () => {
    const titles = (providers: string) =>
      readFileConfig(file('provider: [github]', { providers })).config.registrations.map(({ title }) => title);
    expect(titles('')).to.deep.equal(['GitHub', 'Google', 'staff']);
    expect(titles(', title: Example & Sons')).to.deep.equal(['GitHub', 'Google', 'Example & Sons']);
    const second = '  work: { provider: github, client-id: g, client-secret: h }\nresources:';
    const { config } = readFileConfig(file('provider: [github, work]').replace('resources:', second));
    expect(config.registrations.map(({ title }) => title)).to.deep.equal(['github', 'Google', 'staff', 'work']);
    for (const title of ['"a\\tb"', `"${'x'.repeat(61)}"`]) {
      expect(faultsOfFile(file('provider: [github]', { providers: `, title: ${title}` })), title).to.have.length(1);
    }
  });

  it('may have front ends at some of them, and machines at all', () => {
    const frontEnds = `front-ends:
  some: { origin: https://a.example.com, token-delivery: code, providers: [google], resources: [wiki] }
  ci: { kind: machine, secret-file: ./ci, resources: [wiki] }
  others: { origin: https://b.example.com, token-delivery: code, providers: [staff] }
`;
    const { config } = readFileConfig(file('provider: [github, google]', { frontEnds }), {
      files: { './ci': { text: 'a secret of thirty-two characters or more' } },
    });
    expect(config.frontEnds.map(({ registrations }) => registrations)).to.deep.equal([
      ['google'],
      ['github', 'google'],
      ['staff'],
    ]);
    const wrong =
      'front-ends: { some: { origin: https://a.example.com, token-delivery: code, providers: [staff], resources: [wiki] } }';
    expect(faults('provider: [github, google]', { frontEnds: wrong }).join()).to.include(
      'some.resources has wiki of the providers github and google, which the front end may not use',
    );
  });

  it('are printed and migrated as they are written, so that a list of one provider stays a list', () => {
    for (const value of ['github', '[github]', '[github, google]']) {
      const { readings, config } = readFileConfig(file(`provider: ${value}, identity: [email]`));
      for (const printed of [formatConfigFile(readings, config), formatChangedSettings(readings)]) {
        expect(printed).to.include(`    provider: ${value} # config.yaml:9:58\n`).and.include('    identity: email #');
      }
      expect(parse(formatMigratedFile(readings)).resources.wiki.provider).to.deep.equal(parse(value));
    }
  });

  it('are a single provider or a list in the schema for editors', () => {
    const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(configFileSchema());
    for (const value of ['github', '[github]', '[github, google]']) {
      expect(validate(parse(file(`provider: ${value}`))), value).to.equal(true);
    }
    for (const value of ['[]', '{}', '[[github]]']) {
      expect(validate(parse(file(`provider: ${value}`))), value).to.equal(false);
    }
  });
});
