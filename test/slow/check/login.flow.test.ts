import { expect } from 'chai';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { canariesIn, canary } from '../../harness/expect/canaries.ts';
import { startCertifiedProvider } from '../../harness/provider/certified-provider.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';
import { type Invocation, RelayProcess } from '../../harness/relay/relay-process.ts';
import { listening } from '../../harness/relay/relay-under-test.ts';
import { selfSignedCertificate } from '../../harness/system/certificate.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { secretFile } from '../../harness/system/secret-file.ts';
import { authorize } from '../front-end/support/client-page.ts';

const clientSecret = canary('secret');

/** A configuration file with one provider and one page. */
function fileWith(port: number, provider: readonly string[], more = ''): Promise<string> {
  return secretFile(`base-url: http://127.0.0.1:${port}
port: ${port}
${more}
providers:
  x:
    client-id: client-1
    client-secret: ${clientSecret}
    ${provider.join('\n    ')}
front-ends:
  app: { origin: 'http://localhost:5173', token-delivery: code }
`);
}

/** Starts `login-relay check --login`, and waits for the address that it shows. */
async function startCheck(config: string, how: Invocation = {}) {
  const check = new RelayProcess({ ...how, words: ['check', '--login', '--config', config, ...(how.words ?? [])] });
  const startUrl = await eventually(async () => {
    const shown = /^ {2}(https?:\S+)$/m.exec(check.stderr)?.[1];
    if (shown === undefined) throw new Error(`no address yet: ${check.stderr}`);
    return shown;
  });
  return { check, startUrl };
}

/** A provider that grants everything, whose token endpoint may wait. */
async function withGrantingProvider<T>(
  task: (at: string, asked: string[]) => Promise<T>,
  beforeToken = async (): Promise<void> => {},
): Promise<T> {
  const asked: string[] = [];
  const provider = await serve(async (request, response) => {
    const { pathname, searchParams } = new URL(`${request.url}`, 'http://provider.invalid');
    asked.push(pathname);
    if (pathname === '/authorize') {
      const query = new URLSearchParams({ code: canary('code'), state: `${searchParams.get('state')}` });
      response.writeHead(302, { Location: `${searchParams.get('redirect_uri')}?${query}` }).end();
      return;
    }
    if (pathname === '/token') await beforeToken();
    const token = { access_token: canary('token'), token_type: 'bearer' };
    json(pathname === '/token' ? token : { sub: 'u-7' })(response);
  });
  try {
    return await task(`http://127.0.0.1:${provider.port}`, asked);
  } finally {
    await provider.close();
  }
}

const endpointsAt = (at: string) => [
  `authorize-url: ${at}/authorize`,
  `token-url: ${at}/token`,
  `user-url: ${at}/user`,
  `revocation-url: ${at}/revoke`,
];

describe('login-relay check --login, as a command', () => {
  it('never takes the port of a relay that runs, and says what to do', async () => {
    await withGrantingProvider(async (at) => {
      const port = await freePort();
      const config = await fileWith(port, endpointsAt(at));
      const { relay } = await listening({ flags: { config } });
      const { code, stdout, stderr } = await new RelayProcess({ words: ['check', '--login', '--config', config] })
        .ended;
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
      expect(stdout.replaceAll(/\s+/g, ' ')).to.contain('is already in use').and.contain('stop it for a minute');
      // Beside it, on a port to which the proxy sends the login.
      const other = await freePort();
      const { check, startUrl } = await startCheck(config, { words: ['--port', `${other}`] });
      expect(startUrl).to.contain(`http://127.0.0.1:${port}/auth/x/check-`);
      const { stderr: said } = await check.stop('SIGINT');
      expect(said).to.contain('Its callback URL is');
      await relay.stop();
    });
  });

  it('ends by Ctrl-C while it waits, with a report', async () => {
    await withGrantingProvider(async (at) => {
      const { check } = await startCheck(await fileWith(await freePort(), endpointsAt(at)));
      const { code, signal, stdout } = await check.stop('SIGINT');
      expect({ code, signal }).to.deep.equal({ code: 1, signal: null });
      expect(stdout).to.contain('login: stopped before a login came back');
    });
  });

  it('revokes what it has got if Ctrl-C comes while the provider takes its time', async () => {
    const { promise: stopped, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
    const beforeToken = () => {
      ask();
      return stopped;
    };
    await withGrantingProvider(async (at, asked) => {
      const { check, startUrl } = await startCheck(await fileWith(await freePort(), endpointsAt(at)));
      await new FakeBrowser().visit(startUrl);
      await isAsked;
      const ended = check.stop('SIGINT');
      await eventually(async () => expect(check.stderr).to.contain('stops as soon as its tokens are revoked'));
      goOn();
      expect(await ended).to.include({ code: 1, signal: null });
      expect(asked).to.include('/revoke').and.not.include('/user');
    }, beforeToken);
  });
});

const { describe: describeInChromium } = needsChromium();

describeInChromium('login-relay check --login, in Chromium at an OpenID provider', () => {
  const openPage = useBrowser();

  it('logs in with its own TLS, and prints only JSON', async () => {
    await withGrantingProvider(async (at) => {
      const port = await freePort();
      const tls = await secretFile(await selfSignedCertificate('localhost'));
      const file = await fileWith(port, endpointsAt(at), `tls-cert: ${tls}\ntls-key: ${tls}`);
      const { check, startUrl } = await startCheck(file, {
        words: ['--base-url', `https://localhost:${port}`, '--json'],
      });
      expect(startUrl).to.contain(`https://localhost:${port}/auth/x/check-`);
      const page = await openPage({ ignoreHTTPSErrors: true });
      await page.goto(startUrl);
      await page.getByRole('heading', { name: 'The login has arrived' }).waitFor();
      const { code, stdout } = await check.ended;
      const { answers } = JSON.parse(stdout);
      expect(code).to.equal(0);
      const from = answers.map((one: { readonly from: string }) => one.from);
      expect(from).to.deep.equal(['callback', 'token endpoint', 'user endpoint', 'revocation']);
    });
  });

  for (const group of ['staff', 'guests'] as const) {
    it(`shows who logs in, and what a person of the group ${group} may use`, async () => {
      const port = await freePort();
      const redirectUri = `http://127.0.0.1:${port}/oauth2/callback`;
      const client = { clientId: 'client-1', clientSecret, redirectUri };
      const provider = await startCertifiedProvider({ client, refreshes: true, groups: { ada: [group] } });
      const config = await fileWith(port, [
        `issuer: ${provider.issuer}`,
        'scope: openid profile groups',
        'authorize-params: prompt=consent',
        'callback-path: /oauth2/callback',
        'allow: { groups: [staff] }',
      ]);
      try {
        const { check, startUrl } = await startCheck(config);
        const page = await openPage();
        await page.goto(startUrl);
        await authorize(page);
        await page.getByRole('heading', { name: 'The login has arrived' }).waitFor();
        await screenshot(page, `check-login-${group}`);
        expect(await page.textContent('body')).not.to.contain('ada');
        const { code, stdout, stderr } = await check.ended;
        expect([...canariesIn(stdout + stderr)]).to.deep.equal([]);
        const text = stdout.replaceAll(/\s+/g, ' ');
        expect(code).to.equal(0);
        expect(text).to.contain('person: id ada');
        expect(text).to.contain('refresh: gives another access token; there is also a new refresh token');
        expect(text).to.contain('revocation: the tokens of this check are revoked');
        const verdict = group === 'staff' ? 'this person may' : 'allow refuses this person';
        expect(text).to.contain(`who may log in (app at x): ${verdict}`);
        expect(text).to.contain('revocation: status 200, text/plain, 4 times');
      } finally {
        await provider.close();
      }
    });
  }
});
