import { expect } from 'chai';
import { formatProviders } from '../../src/cli/commands/providers.ts';
import { presets } from '../../src/providers/presets.ts';
import type { Preset } from '../../src/providers/provider.ts';

const documentation = 'https://docs.example';
const addresses = {
  authorizeUrl: 'https://id.example/authorize',
  tokenUrl: 'https://id.example/token',
  userUrl: 'https://id.example/user',
};
const plain: Preset = {
  name: 'plain',
  title: 'Plain',
  documentation,
  provider: { ...addresses, tokenRequest: 'query', pkce: false },
};
const needy: Preset = {
  name: 'needy-one',
  documentation,
  title: 'Needy',
  host: { meaning: 'host', default: 'needy.example' },
  tenant: { meaning: 'realm' },
  provider: { ...addresses, scope: 'openid profile', tokenRequest: 'basic', pkce: true },
};

describe('the table of providers', () => {
  it('aligns its columns', () => {
    const lines = formatProviders([plain, needy]).split('\n');
    expect(lines.slice(0, 4)).to.deep.equal([
      'name       provider  needs                         scope',
      'plain      Plain     nothing                       none',
      'needy-one  Needy     host (needy.example), tenant  openid profile',
      '',
    ]);
  });

  it('ends with how to use any other provider', () => {
    expect(formatProviders([plain])).to.match(/\nAny other provider: --issuer .*\n$/);
  });

  it('fits 80 columns with the existing presets', () => {
    const widths = formatProviders(presets)
      .split('\n')
      .map((line) => line.length);
    expect(Math.max(...widths)).to.be.at.most(80);
  });
});
