import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { documented, documentedConfig } from '../../harness/project/shipped-pages.ts';
import { startCertifiedProvider } from '../../harness/provider/certified-provider.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { listening } from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { loggedIn, logIn, shows } from './support/client-page.ts';

const { describe } = needsChromium();

describe('one source for production and development, as docs/front-end.md shows it, in Chromium', () => {
  const openPage = useBrowser();
  let page: Serving;
  const closing: (() => Promise<unknown>)[] = [];

  before('start the provider, the relay and the page', async () => {
    const port = await freePort();
    const relayUrl = `http://relay.localhost:${port}`;
    const redirectUri = `${relayUrl}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    const provider = await startCertifiedProvider({ client, refreshes: true });
    page = await serve((request, response) => {
      const isScript = request.url === '/both.js';
      const type = isScript ? 'javascript' : 'html';
      response.writeHead(200, { 'Content-Type': `text/${type}; charset=utf-8` });
      response.end(isScript ? documented('both.js', relayUrl) : html);
    });
    const folder = await mkdtemp(join(tmpdir(), 'login-relay-'));
    closing.push(page.close, provider.close, () => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'secret'), client.clientSecret, { mode: 0o600 });
    const config = join(folder, 'config.yaml');
    const frontEnds = documentedConfig().replace('https://app.example.com', production());
    await writeFile(config, settingsFor(relayUrl, provider.issuer) + frontEnds);
    const { relay } = await listening({ flags: { config, port: `${port}` } });
    closing.unshift(() => relay.stop());
  });
  after('stop them', async () => {
    for (const close of closing) await close();
  });

  const production = () => `http://app.localhost:${page.port}`;
  const development = () => `http://localhost:${page.port}`;

  for (const [where, url, clientId] of [
    ['production', production, 'app'],
    ['development', development, 'development'],
  ] as const) {
    it(`logs in at ${where}, and stays logged in over a reload`, async () => {
      const tab = await openPage();
      const start = tab.waitForRequest((one) => /\/auth\/provider\?/.test(one.url()));
      await tab.goto(url());
      await shows(tab, 'Nobody');
      await logIn(tab);
      const { searchParams } = new URL((await start).url());
      expect(searchParams.get('client_id')).to.equal(clientId);
      expect(tab.url()).to.equal(`${url()}/`);
      await tab.reload();
      await loggedIn(tab);
    });
  }
});

// This provider gives refresh tokens only to logins with its consent page.
const settingsFor = (relayUrl: string, issuer: string) => `base-url: ${relayUrl}
providers:
  provider:
    issuer: ${issuer}
    client-id: client-1
    client-secret-file: ./secret
    authorize-params: prompt=consent
`;

const html = `<!doctype html>
<link rel="icon" href="data:,">
<title>Front end</title>
<button type="button">Log in</button>
<p role="status"></p>
<script type="module">
  import { login } from './both.js';

  document.querySelector('button').onclick = () => login.login();
  login.onChange(async () => {
    const user = await login.user();
    document.querySelector('p').textContent = user ? 'Hello, ' + user.name : 'Nobody';
  });
</script>
`;
