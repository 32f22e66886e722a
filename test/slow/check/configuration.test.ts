import { expect } from 'chai';
import { check } from '../../check/support/check.ts';
import { diagnoseWith } from '../../check/support/provider.ts';
import { canary } from '../../harness/expect/canaries.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';

describe('login-relay check, about the configuration', () => {
  it('does not show a wrong value that may be a secret', async () => {
    const misplaced = canary('secret');
    const { code, report } = await check({
      flags: {
        'token-url': `https://user:${misplaced}@provider.invalid/token`,
        scope: `"${misplaced}"`,
        port: misplaced,
        provider: misplaced,
        'client-secret': `${misplaced}é`,
      },
      env: { HTTPS_PROXY: misplaced },
    });
    expect(code).to.equal(2);
    expect(JSON.stringify(report)).not.to.contain(misplaced);
    expect(report.configuration).to.equal(null);
  });

  const addresses: Record<string, readonly [Flags, RegExp]> = {
    'a base URL on plain http': [
      { 'base-url': 'http://relay.example', origin: 'https://app.example' },
      /^the base URL is on plain http: .* can be read in transit$/,
    ],
    'a front end on plain http': [
      { 'base-url': 'https://relay.example', origin: 'http://app.example' },
      /^the front end is on plain http: .* can be read in transit/,
    ],
    'a base URL that only this machine can reach': [
      { origin: 'https://app.example' },
      /^the base URL works only on this machine, but the front end is elsewhere$/,
    ],
  };
  for (const [name, [changes, message]] of Object.entries(addresses)) {
    it(`warns of ${name}`, async () => {
      const result = await diagnoseWith({}, { ...changes, 'insecure-http': 'true' });
      expect(result.code).to.equal(0);
      expect(result.finding('addresses')).to.include({ verdict: 'warning' });
      expect(result.finding('addresses').message).to.match(message);
    });
  }

  it('warns of a provider on plain http beyond this machine', async () => {
    const flags = { 'token-url': 'http://provider.invalid/token', 'insecure-http': 'true' };
    const { report } = await diagnoseWith({}, flags);
    expect(report.findings.map(({ message }) => message)).to.include(
      'the provider is called on plain http: the client secret and tokens can be read in transit',
    );
  });
});
