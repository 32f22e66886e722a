import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import {
  expectError,
  expectRedirect,
  expectToken,
  expectUser,
} from '../../harness/expect/expectations.ts';
import { silence } from '../../harness/provider/provider-behaviours.ts';
import { type ClientRegistration, StrictProvider } from '../../harness/provider/strict-provider.ts';
import type { Invocation } from '../../harness/relay/relay-process.ts';
import {
  flagsFor,
  listening,
  loginPath,
  RelayUnderTest,
  registration,
  secretFile,
  withRelay as withQuietRelay,
} from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needs } from '../../harness/system/needs.ts';

/** Starts a relay with its own flags and variables, runs the test, and stops the relay. */
async function withRelay(
  client: Partial<ClientRegistration>,
  invoke: (provider: StrictProvider, file: string) => Invocation | Promise<Invocation>,
  look: (underTest: RelayUnderTest, callbackUrl: unknown) => Promise<void>,
  fileContent?: string,
): Promise<void> {
  const provider = await StrictProvider.start(registration(client));
  let underTest: RelayUnderTest | undefined;
  try {
    const file = await secretFile(fileContent ?? provider.registration.clientSecret);
    const { relay, port, callbackUrl } = await listening(await invoke(provider, file));
    underTest = new RelayUnderTest(relay, port, provider);
    await look(underTest, callbackUrl);
    expect(provider.violations).to.deep.equal([]);
  } finally {
    await (underTest ?? provider).stop();
  }
}

const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
const outside = ownAddresses.find(
  ({ internal, family }) => !internal && family === 'IPv4',
)?.address;
const { it: itBeyondLoopback } = needs('an IPv4 address beyond loopback', outside !== undefined);
const hasIPv6 = ownAddresses.some(({ address }) => address === '::1');
const { it: itOnIPv6 } = needs('IPv6', hasIPv6);

describe('configuration', () => {
  it('can be given only by the environment', async () => {
    const client: Partial<ClientRegistration> = {
      redirectUri: 'https://relay.example/below/auth/acme/callback',
      tokenRequest: 'body',
    };
    await withRelay(
      client,
      (provider, file) => ({
        env: {
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
          PROVIDER_TIMEOUT: '2',
          LOG_LEVEL: 'debug',
          LOG_FORMAT: 'json',
          INSECURE_HTTP: 'false',
        },
      }),
      async ({ port, provider }, callbackUrl) => {
        expect(callbackUrl).to.equal(client.redirectUri);
        const get = (path: string) => send(port, { path, host: '127.0.0.2' });
        const start = expectRedirect(await get('/auth/acme'));
        expect(start.href).to.match(/^https:\/\/provider\.example\/authorize\?/);
        expect(start.searchParams.get('redirect_uri')).to.equal(client.redirectUri);
        expect(start.searchParams.get('scope')).to.equal('one two');
        const code = canary('code');
        const end = expectRedirect(await get(`/auth/acme/callback?code=${code}`));
        expect(end.origin + end.pathname + end.search).to.equal('https://app.example/page');
        expect(end.hash).to.equal(`#access_token=${provider.tokenFor(code)}`);
        provider.onToken = silence;
        expectError(await get('/auth/acme/callback?code=late'), 504);
      },
    );
  });

  it('prefers flags to the environment, and ignores empty variables', async () => {
    await withRelay(
      {},
      (provider, file) => ({
        flags: flagsFor(provider, file),
        env: {
          PORT: '1',
          HOST: '',
          FRONTEND_ORIGIN: 'https://other.example',
          FRONTEND_URL: '',
          BASE_URL: 'https://other-relay.example',
          PROVIDER_CLIENT_ID: 'other',
          PROVIDER_CLIENT_SECRET: '',
          PROVIDER_CLIENT_SECRET_FILE: '/nowhere',
          PROVIDER: '',
          PROVIDER_AUTHORIZE_URL: 'https://other.example/a',
          PROVIDER_TOKEN_URL: 'https://other.example/t',
          PROVIDER_USER_URL: 'https://other.example/u',
          PROVIDER_SCOPE: '',
          PROVIDER_TOKEN_REQUEST: '',
          PROVIDER_PATH_NAME: '',
          TOKEN_DELIVERY: '',
          PROVIDER_TIMEOUT: '',
          LOG_LEVEL: '',
          LOG_FORMAT: '',
          INSECURE_HTTP: '',
          // The relay ignores variables of other programs.
          NODE_ENV: 'development',
          HTTP_PROXY: 'http://127.0.0.1:1',
          http_proxy: 'http://127.0.0.1:1',
        },
      }),
      async (underTest) => {
        const start = expectRedirect(await underTest.get(loginPath));
        expect(start.searchParams.get('client_id')).to.equal('client-1');
        expect(start.searchParams.has('scope')).to.equal(false);
        expectToken(await underTest.logIn());
        expectUser(await underTest.lookUp());
      },
    );
  });

  describe('takes the client secret', () => {
    const secret = `${canary('secret')} & more = +%41 "quoted" ~`;

    it('from a flag, and hides it in the list of processes', async () => {
      await withRelay(
        { clientSecret: secret },
        (provider) => ({
          flags: {
            ...flagsFor(provider, ''),
            'client-secret-file': undefined,
            'client-secret': secret,
          },
        }),
        async (underTest) => {
          expectToken(await underTest.logIn());
          const commandLine = await readFile(`/proc/${underTest.process.pid}/cmdline`, 'utf8');
          expect(commandLine).not.to.contain('c4n4ry');
        },
      );
    });

    it('from a variable', async () => {
      await withRelay(
        { clientSecret: secret },
        (provider) => ({
          flags: { ...flagsFor(provider, ''), 'client-secret-file': undefined },
          env: { PROVIDER_CLIENT_SECRET: secret },
        }),
        async (underTest) => void expectToken(await underTest.logIn()),
      );
    });

    it('from a flag rather than from a file in the environment', async () => {
      await withRelay(
        { clientSecret: secret },
        (provider) => ({
          flags: {
            ...flagsFor(provider, ''),
            'client-secret-file': undefined,
            'client-secret': secret,
          },
          env: { PROVIDER_CLIENT_SECRET_FILE: '/nowhere' },
        }),
        async (underTest) => void expectToken(await underTest.logIn()),
      );
    });

    const files: Record<string, string> = {
      'a file': secret,
      'a file with a final newline': `${secret}\n`,
      'a file that ends as on Windows': `${secret}\r\n`,
    };
    for (const [name, content] of Object.entries(files)) {
      it(`from ${name}`, async () => {
        await withRelay(
          { clientSecret: secret },
          (provider, file) => ({ flags: flagsFor(provider, file) }),
          async (underTest) => void expectToken(await underTest.logIn()),
          content,
        );
      });
    }

    it('from the systemd credential', async () => {
      await withRelay(
        { clientSecret: secret },
        (provider, file) => ({
          flags: { ...flagsFor(provider, ''), 'client-secret-file': undefined },
          env: { CREDENTIALS_DIRECTORY: dirname(file) },
        }),
        async (underTest) => void expectToken(await underTest.logIn()),
        `${secret}\n`,
      );
    });

    it('from a variable rather than from the systemd credential', async () => {
      await withRelay(
        { clientSecret: secret },
        (provider, file) => ({
          flags: { ...flagsFor(provider, ''), 'client-secret-file': undefined },
          env: { CREDENTIALS_DIRECTORY: dirname(file), PROVIDER_CLIENT_SECRET: secret },
        }),
        async (underTest) => void expectToken(await underTest.logIn()),
        canary('secret'),
      );
    });
  });

  it('defaults to localhost and the port for the base URL, and to GitHub', async () => {
    const port = await freePort();
    const callback = `http://localhost:${port}/auth/provider/callback`;
    await withRelay(
      {},
      (provider, file) => ({
        flags: {
          port: String(port),
          origin: 'https://app.example',
          'client-id': provider.registration.clientId,
          'client-secret-file': file,
        },
      }),
      async (underTest, callbackUrl) => {
        expect(underTest.port).to.equal(port);
        expect(callbackUrl).to.equal(callback);
        const start = expectRedirect(await underTest.get(loginPath));
        expect(start.origin + start.pathname).to.equal('https://github.com/login/oauth/authorize');
        expect(start.searchParams.get('redirect_uri')).to.equal(callback);
      },
    );
  });

  itBeyondLoopback('listens on loopback alone unless told otherwise', async () => {
    await withRelay(
      {},
      (provider, file) => ({ flags: flagsFor(provider, file) }),
      async ({ port }) => {
        const socket = connect(port, outside);
        const [error] = await once(socket, 'error');
        expect(error.code).to.equal('ECONNREFUSED');
      },
    );
  });

  itOnIPv6('takes an IPv6 address to listen on, and writes it as a URL does', async () => {
    await withRelay(
      {},
      (provider, file) => ({ flags: { ...flagsFor(provider, file), host: '::1' } }),
      async ({ port, process }) => {
        expect(process.stdout).to.contain(`http://[::1]:${port}`);
        expectRedirect(await send(port, { path: loginPath, host: '::1' }));
      },
    );
  });

  it('allows plain http beyond loopback with --insecure-http', async () => {
    for (const insecure of [
      { words: ['--insecure-http'] },
      { env: { INSECURE_HTTP: 'true' } },
    ] satisfies Invocation[]) {
      await withRelay(
        { redirectUri: 'http://relay.example/auth/provider/callback' },
        (provider, file) => ({
          ...insecure,
          flags: {
            ...flagsFor(provider, file),
            origin: 'http://app.example',
            'base-url': 'http://relay.example',
            'authorize-url': 'http://provider.example/authorize',
          },
        }),
        async (underTest) => {
          const start = expectRedirect(await underTest.get(loginPath));
          expect(start.origin).to.equal('http://provider.example');
          expectToken(await underTest.logIn(), 'http://app.example/');
        },
      );
    }
  });

  it('allows plain http on loopback, in every spelling', async () => {
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000']) {
      await withRelay(
        { redirectUri: 'http://[::1]:8000/auth/provider/callback' },
        (provider, file) => ({
          flags: { ...flagsFor(provider, file), origin, 'base-url': 'http://[::1]:8000' },
        }),
        async (underTest) => void expectToken(await underTest.logIn(), `${origin}/`),
      );
    }
  });

  it('is the same with the command serve', async () => {
    await withRelay(
      {},
      (provider, file) => ({ words: ['serve'], flags: flagsFor(provider, file) }),
      async (underTest) => void expectToken(await underTest.logIn()),
    );
  });

  it('logs for people with --log-format pretty', async () => {
    await withQuietRelay({ flags: { 'log-format': 'pretty' } }, async ({ port, process }) => {
      await process.output((text) => text.includes('/auth/provider/callback') || undefined);
      const code = canary('code');
      await send(port, { path: `/auth/provider/callback?code=${code}` });
      const text = await process.output((text) => (text.includes('307') ? text : undefined));
      expect(text).to.contain(`http://127.0.0.1:${port}`);
      expect(text).not.to.match(/^\{/m);
      expect((await process.stop()).code).to.equal(0);
    });
  });

  for (const level of ['error', 'silent']) {
    it(`logs no success at level ${level}`, async () => {
      await withQuietRelay({ flags: { 'log-level': level } }, async (underTest) => {
        expectToken(await underTest.logIn());
        const { code, stdout, stderr } = await underTest.process.stop();
        expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      });
    });
  }
});
