import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import * as v from 'valibot';
import { presets } from '../../src/providers/presets.ts';
import type { Preset } from '../../src/providers/provider.ts';
import { presetSchema } from './preset-schema.ts';

const example: Preset = {
  name: 'example',
  title: 'Example',
  documentation: 'https://docs.example/oauth',
  host: { meaning: 'host of your Example server' },
  authorizeUrl: 'https://{host}/authorize',
  tokenUrl: 'https://{host}/token',
  userUrl: 'https://{host}/user',
  scope: 'openid profile',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'always',
};

describe('the presets', () => {
  for (const preset of presets) {
    it(`have the form of a preset: ${preset.name}`, () => {
      const { issues } = v.safeParse(presetSchema, preset);
      expect(issues?.map(({ path, message }) => [path?.[0]?.key, message])).to.equal(undefined);
    });
  }

  it('are one per file, listed, and named like their file', () => {
    const files = readdirSync(new URL('../../src/providers', import.meta.url))
      .map((file) => file.replace(/\.ts$/, ''))
      .filter((file) => file !== 'presets' && file !== 'provider');
    expect(presets.map(({ name }) => name)).to.have.members(files);
  });

  it('do not send the secret in a URL to self-hosted servers, because their logs would contain it', () => {
    const inUrl = presets.filter(({ clientAuthentication }) => clientAuthentication === 'query');
    expect(inUrl.map(({ name }) => name)).to.deep.equal(['github']);
  });

  it('begin with github, the default', () => {
    expect(presets[0]?.name).to.equal('github');
  });
});

describe('the form of a preset', () => {
  const { host: _, ...withoutHost } = example;
  const broken: Readonly<Record<string, object>> = {
    'an unknown key': { ...example, tokenUri: 'https://id.example/token' },
    'a name with capitals': { ...example, name: 'Example' },
    'plain http': { ...example, tokenUrl: 'http://{host}/token' },
    'an address that is not ASCII': { ...example, userUrl: 'https://{host}/usér' },
    'a password in an address': { ...example, userUrl: 'https://me:word@{host}/user' },
    'an unknown placeholder': { ...example, userUrl: 'https://{host}/{realm}/user' },
    'a host within a host': { ...example, userUrl: 'https://api.{host}/user' },
    'a placeholder that is not declared': withoutHost,
    'a placeholder that is not used': { ...example, tenant: { meaning: 'realm' } },
    'documentation on plain http': { ...example, documentation: 'http://docs.example' },
    'scopes with a comma and a space': { ...example, scope: 'openid,  profile' },
    'an unknown token request': { ...example, clientAuthentication: 'json' },
    'a header with an unknown placeholder': { ...example, requestHeaders: { 'x-a': '{secret}' } },
    'a header of two lines': { ...example, requestHeaders: { 'x-a': 'a\r\nb' } },
    'iss required of an unknown issuer': { ...example, issRequired: true },
  };

  it('accepts a plain preset', () => {
    expect(v.is(presetSchema, example)).to.equal(true);
  });

  for (const [what, preset] of Object.entries(broken)) {
    it(`refuses ${what}`, () => {
      expect(v.is(presetSchema, preset)).to.equal(false);
    });
  }
});
