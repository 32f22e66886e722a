import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { check, clientSecret } from '../../check/support/check.ts';
import { ownAddress } from '../../check/support/own-addresses.ts';
import { endpointsAt, providerWith } from '../../check/support/provider.ts';
import { canary } from '../../harness/expect/canaries.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';

describe('login-relay check, about the configuration', () => {
  let directory: string;
  let secretFile: string;
  const provider = providerWith({});
  let flags: Flags;
  before('start a provider, and write a secret', async () => {
    await provider.listen();
    flags = endpointsAt(provider.origin);
    directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    secretFile = join(directory, 'provider-client-secret');
    await writeFile(secretFile, clientSecret, { mode: 0o600 });
  });
  after('stop the provider, and remove the secret', async () => {
    await provider.stop();
    await rm(directory, { recursive: true });
  });

  it('masks the client secret, and shows its source', async () => {
    const none = { 'client-secret-file': undefined };
    for (const [source, result] of [
      ['flag', await check({ flags: { ...flags, ...none, 'client-secret': clientSecret } })],
      ['file', await check({ flags, env: { PROVIDER_CLIENT_SECRET: canary('secret') } })],
    ] as const) {
      expect(result.code).to.equal(0);
      expect(result.setting('--client-secret')).to.include({ value: '[secret]', source });
    }
  });

  it('shows each redirect URI, and the state check that --token-delivery implies', async () => {
    const plain = await check({ flags });
    expect(plain.setting('--redirect-uri')).to.include({
      value: `${ownAddress}/`,
      source: 'default',
    });
    expect(plain.setting('--state-check')).to.include({ value: 'browsers', source: 'default' });
    const redirectUris = `${ownAddress}/one ${ownAddress}/two`;
    const strict = await check({
      flags: { ...flags, 'token-delivery': 'code' },
      switches: redirectUris.split(' ').flatMap((url) => ['--redirect-uri', url]),
    });
    expect(strict.setting('--redirect-uri')).to.include({ value: redirectUris, source: 'flag' });
    expect(strict.setting('--state-check')).to.include({ value: 'always', source: 'default' });
  });

  it('masks user and password of a proxy', async () => {
    const proxies = {
      [`http://${canary('secret')}:${canary('secret')}@127.0.0.1:9`]: 'http://[secret]@127.0.0.1:9',
      [`http://${canary('secret')}@127.0.0.1:9/`]: 'http://[secret]@127.0.0.1:9',
      'http://127.0.0.1:9': 'http://127.0.0.1:9',
    };
    for (const [proxy, value] of Object.entries(proxies)) {
      for (const name of ['HTTPS_PROXY', 'https_proxy']) {
        const result = await check({ flags, env: { [name]: proxy, NO_PROXY: '.example' } });
        expect(result.setting('HTTPS_PROXY')).to.deep.equal({
          flag: null,
          variable: 'HTTPS_PROXY',
          value,
          source: 'environment',
        });
        expect(result.setting('NO_PROXY')?.value).to.equal('.example');
      }
    }
  });

  it('names every fault at once, with exit code 2, and makes no call', async () => {
    provider.forget();
    const { code, report } = await check({
      flags: {
        ...flags,
        origin: 'https://app.example/page',
        'base-url': 'http://relay.example',
        'client-id': undefined,
        'client-secret-file': join(directory, 'missing'),
      },
      env: { HTTPS_PROXY: `${canary('secret')}@proxy` },
    });
    expect(code).to.equal(2);
    expect(report.findings.map(({ subject, verdict }) => `${verdict} ${subject}`)).to.deep.equal(
      Array(5).fill('problem configuration'),
    );
    const faults = report.findings.map(({ message }) => message).join('\n');
    expect(faults).to.match(
      /^--origin \(FRONTEND_ORIGIN\) "https:\/\/app.example\/page" must be an origin such as /m,
    );
    expect(faults).to.match(
      /^--base-url \(BASE_URL\) "http:\/\/relay.example" must start with https:\/\//m,
    );
    expect(faults).to.match(/^--client-id \(PROVIDER_CLIENT_ID\) is required/m);
    expect(faults).to.match(/^--client-secret-file .* names a file that does not exist/m);
    expect(faults).to.match(/^HTTPS_PROXY must be the URL of a proxy/m);
    expect(report.callbackUrl).to.equal(null);
    expect(provider.asked).to.deep.equal([]);
  });

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
    const port = report.options.find(({ flag }) => flag === '--port');
    expect(port).to.include({ value: null, source: 'flag' });
  });

  const addresses: Record<string, [Record<string, string>, RegExp]> = {
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
      const result = await check({
        flags: { ...flags, ...changes },
        switches: ['--insecure-http'],
      });
      expect(result.code).to.equal(0);
      expect(result.finding('addresses')).to.include({ verdict: 'warning' });
      expect(result.finding('addresses').message).to.match(message);
    });
  }

  it('warns of a provider on plain http beyond this machine', async () => {
    const { report } = await check({
      flags: { 'token-url': 'http://provider.invalid/token', provider: 'codeberg' },
      switches: ['--insecure-http'],
    });
    expect(report.findings.map(({ message }) => message)).to.include(
      'the provider is called on plain http: the client secret and tokens can be read in transit',
    );
  });
});
