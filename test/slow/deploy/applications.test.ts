// The example with several applications, as it is: its configuration and its Caddyfile.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { projectRoot } from '../../harness/project/run.ts';
import { type CertifiedProvider, startCertifiedProvider } from '../../harness/provider/certified-provider.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { RelayProcess } from '../../harness/relay/relay-process.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Workspace } from '../../harness/system/workspace.ts';

const example = (name: string) => readFile(join(projectRoot, 'examples/applications', name), 'utf8');
const secret = 'the secret of a machine, of 32 characters';

/** What the test has elsewhere than the example: the text must be there. */
function replaced(file: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((all, [from, to]) => {
    expect(all).to.include(from);
    return all.replaceAll(from, to);
  }, file);
}

needsPrograms('caddy', 'prometheus').describe('several applications behind one relay', () => {
  let workspace: Workspace;
  let provider: CertifiedProvider;
  let relay: RelayProcess;
  let tlsPort = 0;
  const servers: Serving[] = [];

  before('start them', async () => {
    workspace = await Workspace.create();
    tlsPort = await freePort();
    const ports = { relay: await freePort(), dashboard: await freePort(), files: await freePort() };
    const client = { clientId: 'login-relay', clientSecret: 'a client secret of forty characters, 0123' };
    const redirectUri = 'https://login.example.com/auth/company/callback';
    const groups = { ada: ['staff'], grace: ['staff', 'on-call'] };
    provider = await startCertifiedProvider({ client: { ...client, redirectUri }, groups });
    const wiki = await serve(({ headers }, response) => {
      response.setHeader('Content-Type', 'text/html').end(`<h1>Wiki of ${headers['x-forwarded-user']}</h1>`);
    });
    const tools = await serve(async (asked, response) => {
      const { id } = Object(await json(asked));
      const result = { tools: [], who: asked.headers['x-forwarded-user'] };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    servers.push(wiki, tools);
    const listens = `--web.listen-address=127.0.0.1:${ports.dashboard}`;
    const words = [`--config.file=${await workspace.write('prometheus.yml', '')}`, listens];
    const place = { host: '127.0.0.1', port: ports.dashboard };
    await workspace.serve('prometheus', [...words, `--storage.tsdb.path=${workspace.path('data')}`], place);
    await mkdir(workspace.path('files'));
    await writeFile(workspace.path('files/report.txt'), 'the report of the night');
    await workspace.write('company-secret', client.clientSecret);
    await workspace.write('nightly-secret', secret);
    const config = replaced(await example('config.yaml'), {
      'https://id.example.com': provider.issuer,
      '127.0.0.1:9001': `127.0.0.1:${wiki.port}`,
      '127.0.0.1:9002': `127.0.0.1:${ports.dashboard}`,
      '127.0.0.1:9003': `127.0.0.1:${tools.port}`,
      '127.0.0.1:9004': `127.0.0.1:${ports.files}`,
    });
    relay = new RelayProcess({
      flags: { config: await workspace.write('config.yaml', config), port: `${ports.relay}` },
    });
    await relay.logLine(({ msg }) => msg === 'listening');
    const options = `{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n\thttps_port ${tlsPort}\n\thttp_port ${await freePort()}\n}\n`;
    const sites = replaced(await example('Caddyfile'), {
      '127.0.0.1:8000': `127.0.0.1:${ports.relay}`,
      ':9004': `:${ports.files}`,
      '/srv/files': workspace.path('files'),
    });
    const run = ['run', '--adapter', 'caddyfile', '--config', await workspace.write('Caddyfile', options + sites)];
    await workspace.serve('caddy', run, { host: '127.0.0.1', port: tlsPort });
  });
  after('stop them', async () => {
    await relay.stop();
    for (const server of servers) await server.close();
    await provider.close();
    await workspace.close();
  });

  const openPage = useBrowser(() => ({
    args: ['--ignore-certificate-errors', `--host-resolver-rules=MAP *.example.com:443 127.0.0.1:${tlsPort}`],
  }));

  async function logIn(page: Page, name: string): Promise<void> {
    await page.locator('[name=login]').fill(name);
    await page.locator('[name=password]').fill('any');
    await page.locator('[type=submit]').click();
    // The second page asks for consent.
    await page.locator('form:has([value=consent]) [type=submit]').click();
  }

  /** A request of a program. */
  async function ask(url: string, headers: Readonly<Record<string, string>>, body?: string) {
    const { hostname: host, pathname: path } = new URL(url);
    const place = { host: '127.0.0.1', port: tlsPort, servername: host, rejectUnauthorized: false };
    return await new Promise<{ status: number; challenge: string; body: string }>((resolve, reject) => {
      const sent = request({ ...place, path, method: body === undefined ? 'GET' : 'POST' }, async (answer) => {
        const challenge = `${answer.headers['www-authenticate']}`;
        resolve({ status: answer.statusCode ?? 0, challenge, body: await text(answer) });
      });
      for (const [name, value] of Object.entries({ Host: host, ...headers })) sent.setHeader(name, value);
      sent.on('error', reject).end(body);
    });
  }

  it('open to a person after one login, and only those that the person may use', async () => {
    const page = await openPage();
    await page.goto('https://wiki.example.com/');
    await logIn(page, 'ada');
    await page.getByRole('heading', { name: 'Wiki of ada' }).waitFor();
    await page.goto('https://files.example.com/');
    await page.getByRole('link', { name: 'report.txt' }).click();
    await page.getByText('the report of the night').waitFor();
    expect((await page.goto('https://dashboard.example.com/'))?.status()).to.equal(403);
    await page.getByRole('link', { name: 'Log in with another account' }).waitFor();
  });

  it('show a dashboard to whoever is on call', async () => {
    const page = await openPage();
    await page.goto('https://dashboard.example.com/');
    await logIn(page, 'grace');
    await page.waitForURL(/^https:\/\/dashboard\.example\.com\//);
    expect(await page.title()).to.include('Prometheus');
  });

  it('open to a machine at one of them, and tell agents where to log in', async () => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const form = { grant_type: 'client_credentials', client_id: 'nightly', client_secret: secret };
    const granted = await ask('https://login.example.com/auth/company/token', type, `${new URLSearchParams(form)}`);
    const bearer = { Authorization: `Bearer ${JSON.parse(granted.body).access_token}` };
    expect((await ask('https://files.example.com/report.txt', bearer)).body).to.equal('the report of the night');
    expect((await ask('https://wiki.example.com/', bearer)).status).to.equal(401);
    const refused = await ask('https://tools.example.com/mcp', { 'Content-Type': 'application/json' }, '{"id":1}');
    expect(refused.status).to.equal(401);
    const metadata = 'https://tools.example.com/.well-known/oauth-protected-resource/mcp';
    expect(refused.challenge).to.include(metadata);
    expect(JSON.parse((await ask(metadata, {})).body).authorization_servers).to.deep.equal([
      'https://login.example.com/auth/company',
    ]);
  });
});
