import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { namesAt, rowAt } from '../../src/config/settings/settings.ts';
import { presets } from '../../src/providers/presets.ts';
import type { Placeholder, Preset, Provider } from '../../src/providers/provider.ts';
import { faultsOfFile } from '../config/support/read.ts';

const documentation = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8');
const unconfirmed = ' \\*';

function row({ name, title, host, tenant, provider }: Preset): string {
  const { scope, tokenRequest, pkce } = provider;
  const needs = [...need('--provider-host', host), ...need('--provider-tenant', tenant)].join(', ');
  return [
    `| \`${name}\``,
    `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`,
    needs || 'nothing',
    scope === undefined ? 'none' : `\`${scope}\``,
    `\`${tokenRequest}\``,
    `${pkce ? 'yes' : 'no'} |`,
  ].join(' | ');
}

function need(flag: string, placeholder: Placeholder | undefined): string[] {
  if (placeholder === undefined) return [];
  return [`\`${flag}\`${placeholder.default === undefined ? '' : `, else ${placeholder.default}`}`];
}

/** The settings of a preset that its row in the first table does not name. */
function furtherSettings({ revocation, ...provider }: Provider): string[] {
  const shown = ['authorizeUrl', 'tokenUrl', 'userUrl', 'scope', 'tokenRequest', 'pkce', 'issuer'];
  const names = namesAt('providers').filter((name) => name in provider && !shown.includes(name));
  const keys = names.map((name) => rowAt('providers', name).key);
  const isStandard = revocation?.request === 'rfc7009' && revocation.takes === undefined;
  return [...keys, ...(isStandard ? ['revocation-url'] : [])].sort();
}

function tableRows(): readonly string[] {
  const heading = '| name | provider | needs | scope | token request | PKCE |\n|---|---|---|---|---|---|\n';
  return documentation.split(heading)[1]?.split('\n\n')[0]?.split('\n') ?? [];
}

function section({ title }: Preset): string {
  const [, section = ''] = documentation.split(`\n### ${title}\n`);
  return section.split(/\n##/)[0] ?? '';
}

function revoked(revocation: Provider['revocation']): RegExp {
  if (revocation === undefined) return / revokes no tokens\./;
  if (revocation.takes === undefined) return / revokes both[,.]/;
  return revocation.takes === 'access_token' ? / revokes access tokens\./ : / revokes refresh tokens\./;
}

/** The YAML of the document, each block as a whole configuration file. */
function yamlExamples(): string[] {
  const blocks = [...documentation.matchAll(/^( *)```yaml\n([\s\S]*?)^\1```$/gm)].map(([, indent = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  return blocks.map((text) => {
    const providers = /^providers:/m.test(text) ? text : `providers:\n${text.replaceAll(/^(?=.)/gm, '  ')}`;
    const frontEnds = 'front-ends: { app: { origin: https://app.example.com, token-delivery: code } }';
    const whole = `base-url: https://login.example.com\n${providers}${/^front-ends:/m.test(text) ? '' : frontEnds}`;
    return whole.replaceAll(/client-secret-file: .*/g, 'client-secret: made-up-0123456789');
  });
}

describe('docs/providers.md', () => {
  for (const text of yamlExamples()) {
    it(`has examples without faults: ${/issuer.*|authorize-url.*/.exec(text)?.[0]}`, () => {
      expect(faultsOfFile(text)).to.deep.equal([]);
    });
  }

  it('has an example of each provider that needs an example', () => {
    expect(yamlExamples()).to.have.length.of.at.least(9);
  });

  it('lists exactly the existing presets and their data', () => {
    const rows = tableRows().map((line) => line.replaceAll(unconfirmed, ''));
    expect(rows).to.deep.equal(presets.map((preset) => row(preset)));
  });

  it('lists which further settings each preset is made of', () => {
    const [, table = ''] = documentation.split('| preset | also sets |\n|---|---|\n');
    const documented = table.split('\n\n')[0]?.split('\n');
    expect(documented).to.deep.equal(
      presets.flatMap(({ name, provider }) => {
        const keys = furtherSettings(provider).map((key) => `\`${key}\``);
        return keys.length === 0 ? [] : [`| \`${name}\` | ${keys.join(', ')} |`];
      }),
    );
  });

  for (const preset of presets) {
    const { name, title, host, tenant, documentation: address } = preset;

    it(`has the complete command for ${title}`, () => {
      const [command = ''] = /(?<=```sh\n)login-relay .*(?=\n)/.exec(section(preset)) ?? [];
      const flags = [...command.matchAll(/--[a-z-]+/g)].map(([flag]) => flag);
      expect(command).to.match(new RegExp(`^login-relay --provider ${name} `));
      expect(flags.includes('--provider-host')).to.equal(host !== undefined);
      expect(flags.includes('--provider-tenant')).to.equal(tenant !== undefined);
    });

    it(`says for ${title} when tokens end, how they are renewed, and what is revoked`, () => {
      const [bullet = ''] = /^- Tokens: .*(\n {2}.*)*/m.exec(section(preset)) ?? [];
      const tokens = bullet.replaceAll(/\s+/g, ' ');
      const { scope, parameters = [] } = preset.provider.refreshRequest ?? {};
      const added = parameters.map((parameter) => parameter.join('='));
      for (const word of [...(scope?.split(' ') ?? []), ...added]) {
        expect(tokens).to.match(new RegExp(`the relay adds .*\`${word}\``));
      }
      expect(tokens).to.match(revoked(preset.provider.revocation));
    });

    it(`says for ${title} where to register, what the record holds and where it is documented`, () => {
      expect(section(preset)).to.match(/^- Register: /m);
      expect(section(preset)).to.match(/^- User record: /m);
      expect(section(preset)).to.include(`](${address})`);
    });
  }

  it('explains for every marked row what is not confirmed', () => {
    const marked = presets.filter((_, index) => tableRows()[index]?.includes(unconfirmed));
    expect(marked).not.to.deep.equal([]);
    for (const preset of marked) {
      expect(section(preset)).to.match(/^- Not confirmed: /m);
    }
  });
});
