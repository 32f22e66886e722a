import { expect } from 'chai';
import { diagnoseIssuer, metadataWith } from './support/provider.ts';

/** The findings on the scope at a provider with this list. */
async function findingsWith(scopes: unknown, scope: string) {
  const metadata = metadataWith(() => ({ scopes_supported: scopes }));
  const { report, code } = await diagnoseIssuer(metadata, () => ({ scope }));
  expect(code).to.equal(0);
  return report.findings.filter(({ subject }) => subject === 'scope');
}

describe('login-relay check, about the scope', () => {
  it('warns of scopes that the provider does not list', async () => {
    expect(await findingsWith(['openid', 'profile'], 'openid repo profile user')).to.deep.equal([
      {
        subject: 'scope',
        verdict: 'warning',
        message: 'the provider does not list repo, user: it may ignore that, or refuse the login',
        fix: 'compare --scope (PROVIDER_SCOPE) with scopes_supported in the metadata',
      },
    ]);
  });

  for (const [name, scopes] of Object.entries({
    'every scope is listed': ['openid', 'profile'],
    'there is no list': undefined,
    'the list is null': null,
    'the list is a text': 'openid',
    'the list contains a number': ['email', 1],
  })) {
    it(`reports nothing if ${name}`, async () => {
      expect(await findingsWith(scopes, 'openid profile')).to.deep.equal([]);
    });
  }

  it('shows nothing of the list, which may hold anything', async () => {
    const [finding] = await findingsWith(['openid', '\u001b[31m'], 'profile');
    expect(JSON.stringify(finding)).not.to.contain('[31m');
  });
});
