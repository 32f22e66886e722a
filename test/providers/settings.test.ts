import { expect } from 'chai';
import { stringify } from 'yaml';
import { namesAt, rowAt } from '../../src/config/settings/settings.ts';
import { presets } from '../../src/providers/presets.ts';
import type { Preset, Provider } from '../../src/providers/provider.ts';
import { known, readFileConfig } from '../config/support/read.ts';

/**
 * The members that only presets have, because no other provider has needed them: the answers of an API about people,
 * the refusals of a provider, and what is known of its applications. `issuer` in an entry names the preset itself.
 */
const ofPresetsAlone: readonly (keyof Provider)[] = [
  'access',
  'accountPrompt',
  'addsEarlierScopes',
  'appIdPrefix',
  'cms',
  'hintParameter',
  'lookupRefusals',
  'issuer',
  'refreshRequest',
  'refreshTokens',
  'userRejectedWhen',
];

/** How a field is written in a file, if it has no setting of its own name, or another form. */
const forms: { readonly [Field in keyof Provider]?: (value: NonNullable<Provider[Field]>) => object } = {
  pkce: (isOn) => ({ pkce: isOn ? 'on' : 'off' }),
  authorizeParams: (parameters) => ({ 'authorize-params': `${new URLSearchParams(parameters)}` }),
  tokenParams: (parameters) => ({ 'token-params': `${new URLSearchParams(parameters)}` }),
  // Each other kind of revocation belongs to a single provider.
  revocation: ({ url, request, takes }) =>
    request === 'rfc7009' && takes === undefined ? { 'revocation-url': url } : {},
};

/** A provider as a preset has it, with its placeholders filled in. */
function filled({ name, host, tenant }: Preset): Provider {
  const place = { ...(host && { providerHost: 'id.example.com' }), ...(tenant && { providerTenant: 'staff' }) };
  return known({ flags: { provider: name, ...place } });
}

function written([field, value]: [string, unknown]): object {
  const form = forms[field as keyof Provider] as ((given: unknown) => object) | undefined;
  if (form) return form(value);
  return { [rowAt('providers', field).key]: value };
}

/** The provider that these settings of an entry give. */
function read(settings: object): Provider {
  const entry = { 'client-id': 'client', 'client-secret': 'secret', ...settings };
  const file = { providers: { byhand: entry }, 'front-ends': { app: { origin: 'https://app.example.com' } } };
  const { provider } = readFileConfig(stringify(file)).config.registrations[0];
  if ('known' in provider) return provider.known;
  throw new Error('the provider is not known');
}

describe('the settings of a provider', () => {
  for (const preset of presets) {
    it(`can say what a preset says: ${preset.name}`, () => {
      const provider = filled(preset);
      const fields = Object.entries(provider).filter(([field]) => !ofPresetsAlone.includes(field as keyof Provider));
      const settings = Object.assign({}, ...fields.map(written));
      const said = Object.keys(settings).includes('revocation-url')
        ? fields
        : fields.filter(([one]) => one !== 'revocation');
      expect(read(settings)).to.deep.include(Object.fromEntries(said));
    });
  }

  for (const { name, provider } of presets) {
    const { users, emails } = provider.access ?? {};
    const inRecord = [users, emails].map((one) => (one?.kind === 'values' && one.from === undefined ? one : undefined));
    const [person, address] = inRecord;
    // Slack's users are two fields, and an id alone is not unique there.
    if (person?.fields.length !== 1) continue;
    it(`can say where the user record has a person: ${name}`, () => {
      const [userId] = person.fields;
      const settings = {
        'user-id': userId,
        ...(person.name && { 'user-name': person.name }),
        ...(address && { 'user-email': address.fields[0], 'user-email-verified': address.verified }),
      };
      const urls = {
        'authorize-url': 'https://a.example/',
        'token-url': 'https://a.example/',
        'user-url': 'https://a.example/',
      };
      const { access } = read({ ...urls, ...settings });
      // Only a preset knows that no two names differ in case alone.
      const exact = person.name === undefined ? {} : { isNameExact: true };
      expect(access?.users).to.deep.equal({ ...person, ...exact });
      if (address === undefined) return;
      const { fields, verified } = address;
      expect(access?.emails).to.deep.equal({ kind: 'values', fields, verified });
    });
  }

  it('have the same names as the fields of a preset', () => {
    const fields = new Set(presets.flatMap((preset) => Object.keys(filled(preset))));
    const names = new Set<string>([...namesAt('providers'), ...ofPresetsAlone, 'revocation']);
    expect([...fields].filter((field) => !names.has(field))).to.deep.equal([]);
  });
});
