import { expect } from 'chai';
import { canary } from '../harness/expect/canaries.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { freePort } from '../harness/system/free-port.ts';
import { check, checkAsText, redirectUri } from './support/check.ts';
import { endpointsAt, withProvider } from './support/provider.ts';

describe('the report of login-relay check', () => {
  it('has a stable form for scripts', async () => {
    await withProvider({ token: json({ error: 'invalid_client' }, 401) }, async (flags) => {
      const { report } = await check({ flags });
      expect(Object.keys(report)).to.deep.equal(['configuration', 'callbackUrl', 'findings']);
      for (const finding of report.findings) {
        expect(Object.keys(finding)).to.deep.equal(['subject', 'verdict', 'message', 'fix']);
        expect(finding.verdict).to.be.oneOf(['ok', 'not_checked', 'warning', 'problem']);
      }
    });
  });

  it('never tells people that everything is right', async () => {
    await withProvider({}, async (flags) => {
      const { code, stdout, stderr } = await checkAsText({ flags, env: { LOG_LEVEL: 'warn' } }, '--verbose');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/^Checks\n/);
      expect(stdout).to.match(/\nConfiguration\n {2}port: 8000 # default\n/);
      expect(stdout).to.match(/^ {6}client-secret-file: \S+ # --client-secret-file$/m);
      expect(stdout).to.match(/^ {2}log-level: warn # LOG_LEVEL$/m);
      expect(stdout).not.to.contain('issuer');
      expect(stdout).to.contain(`\nCallback URL to register: ${redirectUri}\n`);
      expect(stdout).to.match(/^ {2}ok {11}token endpoint: accepts client identifier and secret/m);
      expect(stdout).to.match(/^ {2}not checked {2}authorization endpoint: answers, but/m);
      expect(stdout).to.contain('\n\nNo problem found, 3 not checked.\n\n');
    });
  });

  it('tells people what is wrong and what to change, in 80 columns', async () => {
    await withProvider({ token: json({ error: 'invalid_client' }, 401) }, async (flags) => {
      const secret = canary('secret');
      const { code, stdout } = await checkAsText({
        flags: { ...flags, 'client-secret-file': undefined, 'client-secret': secret },
      });
      expect(code).to.equal(1);
      expect(stdout).not.to.contain('Configuration');
      const [checks = ''] = stdout.split('\n\nCallback URL', 1);
      expect(checks).to.contain(`
  problem      token endpoint: the provider does not accept the client
               identifier with this client secret (tried: body, basic, json)
               → correct the secret in --client-secret (PROVIDER_CLIENT_SECRET),
               or --client-id (PROVIDER_CLIENT_ID)
`);
      expect(checks).to.match(/\n\n1 problem, 1 warning, 3 not checked\.$/);
      // A longer address has a separate line.
      const lines = checks.split('\n').filter((line) => /\S \S/.test(line));
      expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(80);
    });
  });

  it('tells people only once about a problem of several endpoints', async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    const flags = { ...endpointsAt(address), 'token-request': 'query' };
    const { stdout } = await checkAsText({ flags });
    expect(stdout).to.contain(
      '  problem      authorization endpoint, token endpoint, user lookup: nothing\n               listens at the address',
    );
    expect(stdout).to.match(/\n\n1 problem, 1 not checked\.\n\n/);
  });

  it('shows only the faults of a configuration that has some', async () => {
    const { code, stdout } = await checkAsText({ flags: { port: 'eight' } });
    expect(code).to.equal(2);
    expect(stdout).to.match(/^Checks\n/);
    expect(stdout).to.contain('problem      configuration: --port (PORT) "eight" must be a whole');
    expect(stdout).not.to.contain('Callback URL');
  });

  it('has colours only if the environment requests them', async () => {
    const plain = await checkAsText({ flags: { port: 'eight' } });
    expect(plain.stdout).not.to.contain('\u001b');
    const forced = await checkAsText({ flags: { port: 'eight' }, env: { FORCE_COLOR: '1' } });
    expect(forced.stdout).to.contain('\u001b[31mproblem    \u001b[39m  configuration: ');
  });
});
