import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectRedirect, expectToken } from '../../harness/expect/expectations.ts';
import { serveTcp } from '../../harness/provider/serve.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import { type Flags, runRelay } from '../../harness/relay/relay-process.ts';
import { flagsFor, loginPath, registration, secretFile, startRelay } from '../../harness/relay/relay-under-test.ts';
import { needs } from '../../harness/system/needs.ts';
import { commandLineOf } from '../../harness/system/processes.ts';

const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
const outside = ownAddresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
const { it: itBeyondLoopback } = needs('an IPv4 address beyond loopback', outside !== undefined);
const hasIPv6 = ownAddresses.some(({ address }) => address === '::1');
const { it: itOnIPv6 } = needs('IPv6', hasIPv6);

// Values, messages and precedence are tested in test/config, without a process.
describe('configuration', () => {
  it('may have the client secret in a flag, which is hidden in the list of processes', async () => {
    const secret = `${canary('secret')} & more = +%41 "quoted" ~`;
    const flags = { 'client-secret-file': undefined, 'client-secret': secret };
    const underTest = await startRelay(flags, { clientSecret: secret }, { words: ['serve'] });
    expectToken(await underTest.logIn());
    expect(commandLineOf(underTest.process.pid)).not.to.contain('c4n4ry');
    expect(underTest.provider.violations).to.deep.equal([]);
    await underTest.stop();
  });

  itBeyondLoopback('listens on loopback alone unless told otherwise', async () => {
    const underTest = await startRelay();
    const [error] = await once(connect(underTest.port, outside), 'error');
    expect(error.code).to.equal('ECONNREFUSED');
    await underTest.stop();
  });

  itOnIPv6('takes an IPv6 address to listen on, and writes it as a URL does', async () => {
    const underTest = await startRelay({ host: '::1' });
    const { port, process: relay } = underTest;
    expect(relay.stdout).to.contain(`http://[::1]:${port}`);
    expectRedirect(await send(port, { path: loginPath, host: '::1' }));
    await underTest.stop();
  });

  it('ends the relay with one line and exit code 1 if a port cannot be opened', async () => {
    const taken = await serveTcp(() => {});
    const port = `${taken.port}`;
    const provider = await StrictProvider.start(registration({}));
    const flags = flagsFor(provider, await secretFile(canary('secret')));
    const cases: readonly [Flags, RegExp][] = [
      [{ port }, new RegExp(`${port}.* in use`)],
      [{ 'metrics-port': port }, /metrics.* in use/],
      [{ host: '192.0.2.1' }, /192\.0\.2\.1 is not an address of this machine/],
    ];
    for (const [change, expected] of cases) {
      const { code, stdout, stderr } = await runRelay({ flags: { ...flags, ...change } });
      expect(code).to.equal(1);
      expect(stdout).not.to.contain('listening');
      expect(stderr)
        .to.match(/^[^\n]+\n$/)
        .and.to.match(expected);
    }
    await Promise.all([taken.close(), provider.stop()]);
  });
});
