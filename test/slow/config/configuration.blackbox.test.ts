import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectError, expectRedirect, expectToken } from '../../harness/expect/expectations.ts';
import { silence } from '../../harness/provider/provider-behaviours.ts';
import { serveTcp } from '../../harness/provider/serve.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import { type Flags, runRelay } from '../../harness/relay/relay-process.ts';
import {
  flagsFor,
  listening,
  loginPath,
  RelayUnderTest,
  registration,
  secretFile,
  startRelay,
} from '../../harness/relay/relay-under-test.ts';
import { needs } from '../../harness/system/needs.ts';
import { commandLineOf } from '../../harness/system/processes.ts';

/** The values of a login at the provider, under the names of the variables. */
const complete = (provider: StrictProvider, file: string) => ({
  PORT: '0',
  HOST: '127.0.0.2',
  FRONTEND_ORIGIN: 'https://app.example',
  FRONTEND_URL: 'https://app.example/page',
  BASE_URL: 'https://relay.example/below/',
  PROVIDER_CLIENT_ID: provider.registration.clientId,
  PROVIDER_CLIENT_SECRET_FILE: file,
  PROVIDER: 'github',
  PROVIDER_AUTHORIZE_URL: 'https://provider.example/authorize',
  PROVIDER_TOKEN_URL: provider.tokenUrl,
  PROVIDER_USER_URL: provider.userUrl,
  PROVIDER_SCOPE: 'one two',
  PROVIDER_TOKEN_REQUEST: 'body',
  PROVIDER_PATH_NAME: 'acme',
  TOKEN_DELIVERY: 'fragment',
  PROVIDER_TIMEOUT: '5',
  LOG_LEVEL: 'debug',
  LOG_FORMAT: 'json',
  INSECURE_HTTP: 'false',
});

const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
const outside = ownAddresses.find(
  ({ internal, family }) => !internal && family === 'IPv4',
)?.address;
const { it: itBeyondLoopback } = needs('an IPv4 address beyond loopback', outside !== undefined);
const hasIPv6 = ownAddresses.some(({ address }) => address === '::1');
const { it: itOnIPv6 } = needs('IPv6', hasIPv6);

// Values, messages and precedence are tested in test/config, without a process.
describe('configuration', () => {
  it('can be given only by the environment', async () => {
    const redirectUri = 'https://relay.example/below/auth/acme/callback';
    const provider = await StrictProvider.start(
      registration({ redirectUri, tokenRequest: 'body' }),
    );
    const file = await secretFile(provider.registration.clientSecret);
    const { relay, port, callbackUrl } = await listening({ env: complete(provider, file) });
    const underTest = new RelayUnderTest(relay, port, provider);
    try {
      expect(callbackUrl).to.equal(redirectUri);
      const get = (path: string) => send(port, { path, host: '127.0.0.2' });
      const start = expectRedirect(await get('/auth/acme'));
      expect(start.href).to.match(/^https:\/\/provider\.example\/authorize\?/);
      expect(start.searchParams.get('redirect_uri')).to.equal(redirectUri);
      expect(start.searchParams.get('scope')).to.equal('one two');
      const code = canary('code');
      const end = expectRedirect(await get(`/auth/acme/callback?code=${code}`));
      expect(end.origin + end.pathname + end.search).to.equal('https://app.example/page');
      expect(end.hash).to.equal(`#access_token=${provider.tokenFor(code)}`);
      provider.onToken = silence;
      expectError(await get('/auth/acme/callback?code=late'), 504);
      expect(provider.violations).to.deep.equal([]);
    } finally {
      await underTest.stop();
    }
  });

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
