import { createHash, generateKeyPairSync } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContext, Worker } from 'playwright-core';
import { clientsRelay } from '../../clients/support/clients-relay.ts';
import { launchWithProfile, needsChromium } from '../../harness/browser/chromium.ts';
import { granted } from '../../harness/browser/fake-browser.ts';
import { projectRoot } from '../../harness/project/run.ts';
import { redirect } from '../../harness/provider/provider-behaviours.ts';

const { describe } = needsChromium();

/** The key of an extension, as its manifest has it, and the id that Chromium makes of the key. */
function newIdentity() {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'der' });
  const digits = createHash('sha256').update(key).digest('hex').slice(0, 32);
  const id = digits.replaceAll(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)));
  return { key: key.toString('base64'), id };
}

describe('the browser extension of the examples, in Chromium', () => {
  const listed = newIdentity();
  const stranger = newIdentity();
  const redirectUris = [listed, stranger].map(({ id }) => `https://${id}.chromiumapp.org/`);
  const relay = clientsRelay(() => ({
    here: true,
    frontEnds: `  extension:
    kind: native
    redirect-uris: [${redirectUris}]
    origins: [chrome-extension://${listed.id}]
    refresh-tokens: bearer
`,
  }));
  const started: (() => Promise<unknown>)[] = [];

  beforeEach('the provider agrees to every login', () => {
    const { provider } = relay();
    const { pathname } = new URL(provider.authorizeUrl);
    provider.pages = { [pathname]: (response, { url }) => redirect(granted(provider, url))(response) };
  });

  afterEach('Chromium ends', async () => {
    for (const close of started.splice(0).reverse()) await close();
  });

  /** Starts Chromium with the extension. */
  async function load({
    key,
    id,
  }: ReturnType<typeof newIdentity>): Promise<{ worker: Worker; context: BrowserContext }> {
    const folder = await mkdtemp(join(tmpdir(), 'extension-'));
    started.push(() => rm(folder, { recursive: true, force: true }));
    await cp(`${projectRoot}/examples/browser-extension`, folder, { recursive: true });
    const manifest = JSON.parse(await readFile(`${folder}/manifest.json`, 'utf8'));
    await writeFile(`${folder}/manifest.json`, JSON.stringify({ ...manifest, key }));
    const background = await readFile(`${folder}/background.js`, 'utf8');
    const own = background.replace('https://login.example.com', relay().address);
    await writeFile(`${folder}/background.js`, `${own}\nself.logIn = logIn;\n`);
    const context = await launchWithProfile('', {
      headless: false,
      args: ['--headless=new', '--no-sandbox', `--disable-extensions-except=${folder}`, `--load-extension=${folder}`],
    });
    started.push(() => context.close());
    const [present] = context.serviceWorkers();
    const worker = present ?? (await context.waitForEvent('serviceworker'));
    expect(worker.url()).to.equal(`chrome-extension://${id}/background.js`);
    return { worker, context };
  }

  const logIn = (worker: Worker) =>
    worker.evaluate<{ token_type?: string; refresh_token?: string; failure?: string }>(
      `logIn('${relay().address}/auth/provider', 'extension').catch(({ message }) => ({ failure: message }))`,
    );

  it('logs in from its own origin, and looks up the user', async () => {
    const { worker } = await load(listed);
    const tokens = await logIn(worker);
    expect(tokens).to.include({ token_type: 'bearer' });
    expect(tokens.refresh_token).to.match(/^lr1_/);
    const asked = `fetch('${relay().address}/api/user', { headers: { Authorization: 'Bearer ' + token } })`;
    const lookUp = `((token) => ${asked}.then(({ status }) => status))`;
    expect(await worker.evaluate(`${lookUp}(${JSON.stringify(Object(tokens).access_token)})`)).to.equal(200);
  });

  it('gets no token if its origin is not listed', async () => {
    const { worker } = await load(stranger);
    expect(await logIn(worker)).to.have.all.keys('failure');
    const refused = relay().lines.findLast((line) => line['action'] === 'token');
    expect(refused).to.include({ outcome: 'origin_foreign', status: 403 });
    expect(JSON.stringify(relay().lines)).to.contain(`chrome-extension://${stranger.id}`);
  });
});
