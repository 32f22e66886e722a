import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { html, json } from '../harness/provider/provider-behaviours.ts';
import { freePort } from '../harness/system/free-port.ts';
import { diagnoseHere } from './support/check.ts';
import { metadataWith, withProvider } from './support/provider.ts';

const subject = 'discovery';
const correctIssuer = 'correct --issuer (PROVIDER_ISSUER)';

describe('login-relay check, about discovery', () => {
  const faults: Record<string, [metadata: Page, message: RegExp, fix: string | RegExp]> = {
    'an issuer without metadata': [
      html(404, 'Not found'),
      /^there is no metadata at the issuer$/,
      `${correctIssuer}, or give the three endpoints by hand`,
    ],
    'metadata that is a page': [
      html(200, 'Welcome'),
      /^the metadata is not a JSON object$/,
      correctIssuer,
    ],
    'an issuer that answers with a server error': [
      json({}, 503),
      /^the address of the metadata answers with status 503, a server error$/,
      'try again later: a relay that runs keeps trying',
    ],
    'metadata without an endpoint': [
      metadataWith(() => ({ userinfo_endpoint: undefined })),
      /^the metadata has no userinfo_endpoint$/,
      'give it by hand, with --user-url',
    ],
    'an endpoint on plain http': [
      metadataWith(() => ({ token_endpoint: 'http://provider.example/token' })),
      /^an endpoint in the metadata is not an https URL, or is at a link-local or metadata address$/,
      `${correctIssuer}, or give the endpoint by hand`,
    ],
    'a provider for public clients only': [
      metadataWith(() => ({ token_endpoint_auth_methods_supported: ['none'] })),
      /^the provider requires a client that authenticates without a client secret/,
      /another kind of provider/,
    ],
    'metadata that is too large': [
      (response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(' '.repeat(1024 * 1024 + 1));
      },
      /^the answer is larger than 1 MiB \(127\.0\.0\.1:\d+\)$/,
      /check the address/,
    ],
    'metadata that is slow': [
      () => {},
      /^no answer came in time \(127\.0\.0\.1:\d+\)$/,
      /--provider-timeout \(PROVIDER_TIMEOUT\) allows more time$/,
    ],
    'another issuer that it cannot name': [
      metadataWith(() => ({ issuer: 'not an address' })),
      /^the metadata names another issuer$/,
      `${correctIssuer} to the name that it uses`,
    ],
  };
  for (const [name, [fault, message, fix]] of Object.entries(faults)) {
    it(`explains ${name}`, async () => {
      await withProvider({ metadata: fault }, async (_flags, _arrivals, issuer) => {
        const patience = name === 'metadata that is slow' ? '0.5' : '10';
        const result = await diagnoseHere({ flags: { issuer, 'provider-timeout': patience } });
        expect(result.code).to.equal(1);
        expect(result.complaints).to.have.length(1);
        expect(result.finding(subject).verdict).to.equal('problem');
        expect(result.finding(subject).message).to.match(message);
        if (typeof fix === 'string') expect(result.finding(subject).fix).to.equal(fix);
        else expect(result.finding(subject).fix).to.match(fix);
      });
    });
  }

  it('names the issuer that the metadata names', async () => {
    await withProvider(
      { metadata: metadataWith(() => ({})) },
      async (_flags, _arrivals, issuer) => {
        const result = await diagnoseHere({ flags: { issuer: `${issuer}/` } });
        expect(result.code).to.equal(1);
        expect(result.finding(subject)).to.deep.equal({
          subject,
          verdict: 'problem',
          message: 'the metadata names another issuer',
          fix: `if that is your provider, set --issuer (PROVIDER_ISSUER) to exactly ${issuer}`,
        });
      },
    );
  });

  it('reports that nothing listens at the issuer', async () => {
    const port = await freePort();
    const result = await diagnoseHere({ flags: { issuer: `http://127.0.0.1:${port}` } });
    expect(result.code).to.equal(1);
    expect(result.finding(subject).message).to.equal(
      `nothing listens at the address (127.0.0.1:${port})`,
    );
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
    await withProvider(
      { metadata: metadataWith(() => ({})) },
      async (_flags, _arrivals, issuer) => {
        const { report } = await diagnoseHere({
          flags: { issuer, 'user-url': `${issuer}/user?v=2` },
        });
        expect(report.configuration)
          .to.contain(`user-url: ${issuer}/user?v=2 # --user-url\n`)
          .and.to.contain('# by the issuer:')
          .and.to.contain(`authorize-url: ${issuer}/authorize\n`)
          .and.to.contain(`token-url: ${issuer}/token\n`);
      },
    );
  });
});
