import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { answer, html, json } from '../harness/provider/provider-behaviours.ts';
import { diagnoseHere } from './support/check.ts';
import { diagnoseIssuer, metadataWith, withProvider } from './support/provider.ts';

const subject = 'discovery';

describe('login-relay check, about discovery', () => {
  const faults: Record<string, [metadata: Page, message: RegExp, fix: RegExp]> = {
    'an issuer without metadata': [
      html(404, 'Not found'),
      /^there is no metadata at the issuer$/,
      /^correct --issuer \(PROVIDER_ISSUER\), set metadata-url if they are elsewhere, or give the three endpoints by hand$/,
    ],
    'an issuer that answers with a server error': [
      json({}, 503),
      /^the address of the metadata answers with status 503, a server error$/,
      /^try again later: a relay that runs keeps trying$/,
    ],
    'metadata without an endpoint': [
      metadataWith(() => ({ userinfo_endpoint: undefined })),
      /^the metadata has no userinfo_endpoint$/,
      /^give it by hand, with --user-url, or set user-from: id-token in the configuration file$/,
    ],
    'a provider for public clients only': [
      metadataWith(() => ({ token_endpoint_auth_methods_supported: ['none'] })),
      /^the provider requires a client that authenticates without a client secret/,
      /another kind of provider/,
    ],
    'metadata that is too large': [
      answer(200, ' '.repeat(1024 * 1024 + 1), { 'Content-Type': 'application/json' }),
      /^the answer is larger than 1 MiB \(127\.0\.0\.1:\d+\)$/,
      /check the address/,
    ],
    'metadata that is slow': [
      () => {},
      /^no answer came in time \(127\.0\.0\.1:\d+\)$/,
      /--provider-timeout \(PROVIDER_TIMEOUT\) allows more time$/,
    ],
  };
  for (const [name, [fault, message, fix]] of Object.entries(faults)) {
    it(`explains ${name}`, async () => {
      const patience = name === 'metadata that is slow' ? '0.5' : '10';
      const result = await diagnoseIssuer(fault, () => ({ 'provider-timeout': patience }));
      expect(result.code).to.equal(1);
      expect(result.complaints).to.have.length(1);
      const finding = result.finding(subject);
      expect(finding.verdict).to.equal('problem');
      expect(finding.message).to.match(message);
      expect(finding.fix).to.match(fix);
    });
  }

  it('names the issuer that the metadata names', async () => {
    const result = await diagnoseIssuer(metadataWith(), (issuer) => ({ issuer: `${issuer}/` }));
    expect(result.code).to.equal(1);
    const { verdict, message, fix } = result.finding(subject);
    expect([verdict, message]).to.deep.equal(['problem', 'the metadata names another issuer']);
    expect(fix).to.match(
      /^if that is your provider, set --issuer \(PROVIDER_ISSUER\) to exactly http:\/\/127\.0\.0\.1:\d+$/,
    );
  });

  it('does not propose an issuer without metadata of that name', async () => {
    const elsewhere: Page = (response, request) => {
      const { pathname, origin } = request.url;
      const isAsked = pathname === '/.well-known/openid-configuration';
      (isAsked ? metadataWith(() => ({ issuer: `${origin}/elsewhere/v2.0/` })) : json({}, 404))(response, request);
    };
    await withProvider({ metadata: elsewhere }, async (_flags, arrivals, issuer) => {
      const result = await diagnoseHere({ flags: { issuer } });
      const { message, fix } = result.finding(subject);
      expect(message).to.match(
        /^the metadata names another issuer, http\S+\/elsewhere\/v2\.0\/, which has no metadata/,
      );
      expect(fix).to.match(
        /^correct --issuer \(PROVIDER_ISSUER\); if your provider does call itself .* --metadata-url/,
      );
      expect(arrivals.map(({ url }) => url.pathname)).to.include('/elsewhere/v2.0/.well-known/openid-configuration');
    });
  });

  it('checks no endpoints if discovery fails', async () => {
    await withProvider({}, async (_flags, arrivals, issuer) => {
      const { report } = await diagnoseHere({ flags: { issuer } });
      expect(report.findings.map((finding) => finding.subject)).to.deep.equal([
        'addresses',
        'base URL',
        'front end',
        'discovery',
      ]);
      expect(arrivals.map(({ url }) => url.pathname)).to.deep.equal([
        '/.well-known/openid-configuration',
        '/.well-known/oauth-authorization-server',
      ]);
    });
  });

  it('shows the endpoints from the metadata', async () => {
    const { report } = await diagnoseIssuer(metadataWith(), (issuer) => ({
      'user-url': `${issuer}/user?v=2`,
    }));
    const address = 'http://127\\.0\\.0\\.1:\\d+';
    for (const line of [
      `user-url: ${address}/user\\?v=2 # --user-url`,
      '# by the issuer:',
      `authorize-url: ${address}/authorize`,
      `token-url: ${address}/token`,
    ]) {
      expect(report.configuration).to.match(new RegExp(`${line}\n`));
    }
  });
});
