import { expect } from 'chai';
import * as v from 'valibot';
import { presets } from '../../src/providers/presets.ts';
import { providerUrl } from '../../src/urls.ts';

const words = /^[^\s,]+( [^\s,]+)*$/;

/** The address with something in place of its placeholders. */
const filled = (url: string) =>
  url.replace('{host}', 'id.example').replace('{tenant}', 'staff').replace('{clientId}', 'client');

describe('the presets', () => {
  for (const preset of presets) {
    const { name, provider } = preset;
    const { revocation, issuer, cms } = provider;
    const endpoints = [provider.authorizeUrl, provider.tokenUrl, provider.userUrl];

    it(`have https addresses whose placeholders they declare, and use: ${name}`, () => {
      const others = [revocation?.url, provider.logoutUrl, issuer, cms?.apiRoot];
      const urls = [...endpoints, preset.documentation, ...others];
      for (const url of urls.filter((one) => one !== undefined)) {
        const result = v.safeParse(providerUrl, filled(url));
        expect(result.success && result.output.protocol, url).to.equal('https:');
        expect(filled(url)).to.not.match(/[{}]/);
        if (url.includes('{host}')) expect(url).to.match(/^https:\/\/\{host\}\//);
      }
      for (const part of ['host', 'tenant'] as const) {
        const isUsed = endpoints.some((url) => url?.includes(`{${part}}`));
        expect(isUsed, part).to.equal(preset[part] !== undefined);
      }
    });

    it(`have a name, scopes and headers that can be sent: ${name}`, () => {
      expect(name).to.match(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
      const scopes = [provider.scope, provider.refreshRequest?.scope, ...(cms?.repositoryScopes ?? [])];
      for (const scope of scopes) if (scope !== undefined) expect(scope).to.match(words);
      for (const [header, value] of Object.entries(provider.requestHeaders ?? {})) {
        expect(header).to.match(/^[a-z]+(-[a-z]+)*$/);
        expect(value.replace('{version}', '').replace('{baseUrl}', '')).to.match(/^[ -z|~]*$/);
      }
      if (provider.issRequired) expect(issuer).to.be.a('string');
    });
  }

  it('do not send the secret in a URL to self-hosted servers, because their logs would contain it', () => {
    const inUrl = presets.filter(({ provider }) => provider.tokenRequest === 'query');
    expect(inUrl.map(({ name }) => name)).to.deep.equal(['github']);
  });

  it('begin with github, the default', () => {
    expect(presets[0]?.name).to.equal('github');
  });
});
