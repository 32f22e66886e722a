// The examples with applications behind the relay, as they are: their configurations and Caddyfiles.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { parse } from 'yaml';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { projectRoot } from '../../harness/project/run.ts';
import { type CertifiedProvider, startCertifiedProvider } from '../../harness/provider/certified-provider.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { RelayProcess } from '../../harness/relay/relay-process.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Workspace } from '../../harness/system/workspace.ts';

const file = (path: string) => readFile(join(projectRoot, path), 'utf8');
const secret = 'the secret of a machine, of 32 characters';
const client = { clientId: 'login-relay', clientSecret: 'a client secret of forty characters, 0123' };
const groups = { ada: ['staff'], grace: ['staff', 'on-call'] };

/** What the test has elsewhere than the files: each text must be there. */
type Changes = Readonly<Record<string, string>>;

function replaced(text: string, changes: Changes): string {
  return Object.entries(changes).reduce((all, [from, to]) => {
    expect(all).to.include(from);
    return all.replaceAll(from, to);
  }, text);
}

/** A relay and a Caddy in front of it, with the files of the project. */
class Site {
  readonly tlsPort: number;
  readonly #relay: RelayProcess;

  static async start(
    workspace: Workspace,
    config: string,
    sites: (relayPort: number) => { readonly text: string; readonly variables?: Readonly<Record<string, string>> },
  ): Promise<Site> {
    const relayPort = await freePort();
    const tlsPort = await freePort();
    const flags = { config: await workspace.write('config.yaml', config), port: `${relayPort}` };
    const relay = new RelayProcess({ flags });
    await relay.logLine(({ msg }) => msg === 'listening');
    const options = ['admin off', 'local_certs', 'skip_install_trust', 'auto_https disable_redirects'];
    const ports = [`https_port ${tlsPort}`, `http_port ${await freePort()}`];
    const { text, variables } = sites(relayPort);
    // A file has one block of options at most.
    const own = [...options, ...ports].join('\n');
    const all = text.startsWith('{\n') ? text.replace('{\n', `{\n${own}\n`) : `{\n${own}\n}\n${text}`;
    const words = ['run', '--adapter', 'caddyfile', '--config', await workspace.write('Caddyfile', all)];
    await workspace.serve('caddy', words, { host: '127.0.0.1', port: tlsPort }, variables);
    return new Site(relay, tlsPort);
  }

  private constructor(relay: RelayProcess, tlsPort: number) {
    this.#relay = relay;
    this.tlsPort = tlsPort;
  }

  /** Sends a request of a program. */
  async ask(url: string, headers: Readonly<Record<string, string>>, body?: string) {
    const { hostname: host, pathname: path } = new URL(url);
    const place = { host: '127.0.0.1', port: this.tlsPort, servername: host, rejectUnauthorized: false };
    return await new Promise<{ status: number; challenge: string; body: string }>((resolve, reject) => {
      const sent = request({ ...place, path, method: body === undefined ? 'GET' : 'POST' }, async (answer) => {
        const challenge = `${answer.headers['www-authenticate']}`;
        resolve({ status: answer.statusCode ?? 0, challenge, body: await text(answer) });
      });
      for (const [name, value] of Object.entries({ Host: host, ...headers })) sent.setHeader(name, value);
      sent.on('error', reject).end(body);
    });
  }

  async stop(): Promise<void> {
    await this.#relay.stop();
  }
}

/** Lets the browser find the hosts of a domain at the port of Caddy. */
const launchFor = (domain: string, port: number) => ({
  args: ['--ignore-certificate-errors', `--host-resolver-rules=MAP *.${domain}:443 127.0.0.1:${port}`],
});

async function logIn(page: Page, name: string): Promise<void> {
  await page.locator('[name=login]').fill(name);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  // The second page asks for consent.
  await page.locator('form:has([value=consent]) [type=submit]').click();
}

needsPrograms('caddy', 'prometheus').describe('several applications behind one relay', () => {
  let workspace: Workspace;
  let provider: CertifiedProvider;
  let site: Site;
  const servers: Serving[] = [];

  before('start them', async () => {
    workspace = await Workspace.create();
    const redirectUri = 'https://login.example.com/auth/company/callback';
    provider = await startCertifiedProvider({ client: { ...client, redirectUri }, groups });
    const wiki = await serve(({ headers }, response) => {
      response.setHeader('Content-Type', 'text/html').end(`<h1>Wiki of ${headers['x-forwarded-user']}</h1>`);
    });
    const tools = await serve(async (asked, response) => {
      const { id } = Object(await json(asked));
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
    servers.push(wiki, tools);
    const dashboard = await freePort();
    const files = await freePort();
    const words = [
      `--config.file=${await workspace.write('prometheus.yml', '')}`,
      `--storage.tsdb.path=${workspace.path('data')}`,
    ];
    const listens = `--web.listen-address=127.0.0.1:${dashboard}`;
    await workspace.serve('prometheus', [...words, listens], { host: '127.0.0.1', port: dashboard });
    await mkdir(workspace.path('files'));
    await writeFile(workspace.path('files/report.txt'), 'the report of the night');
    await workspace.write('company-secret', client.clientSecret);
    await workspace.write('nightly-secret', secret);
    const config = replaced(await file('examples/applications/config.yaml'), {
      'https://id.example.com': provider.issuer,
      '127.0.0.1:9001': `127.0.0.1:${wiki.port}`,
      '127.0.0.1:9002': `127.0.0.1:${dashboard}`,
      '127.0.0.1:9003': `127.0.0.1:${tools.port}`,
      '127.0.0.1:9004': `127.0.0.1:${files}`,
    });
    const caddyfile = await file('examples/applications/Caddyfile');
    site = await Site.start(workspace, config, (relayPort) => ({
      text: replaced(caddyfile, {
        '127.0.0.1:8000': `127.0.0.1:${relayPort}`,
        ':9004': `:${files}`,
        '/srv/files': workspace.path('files'),
      }),
    }));
  });
  after('stop them', async () => {
    await site.stop();
    for (const server of servers) await server.close();
    await provider.close();
    await workspace.close();
  });

  const openPage = useBrowser(() => launchFor('example.com', site.tlsPort));

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
    const granted = await site.ask(
      'https://login.example.com/auth/company/token',
      type,
      `${new URLSearchParams(form)}`,
    );
    const bearer = { Authorization: `Bearer ${JSON.parse(granted.body).access_token}` };
    expect((await site.ask('https://files.example.com/report.txt', bearer)).body).to.equal('the report of the night');
    expect((await site.ask('https://wiki.example.com/', bearer)).status).to.equal(401);
    const refused = await site.ask('https://tools.example.com/mcp', { 'Content-Type': 'application/json' }, '{"id":1}');
    expect(refused.status).to.equal(401);
    const metadata = 'https://tools.example.com/.well-known/oauth-protected-resource/mcp';
    expect(refused.challenge).to.include(metadata);
    expect(JSON.parse((await site.ask(metadata, {})).body).authorization_servers).to.deep.equal([
      'https://login.example.com/auth/company',
    ]);
  });
});

needsPrograms('caddy').describe('the documents that Compose opens to browsers', () => {
  let workspace: Workspace;
  let provider: CertifiedProvider;
  let site: Site;

  before('start what Compose starts', async () => {
    workspace = await Workspace.create();
    const { networks, services } = parse(await file('deploy/docker/compose.yaml'));
    const redirectUri = 'https://login.localhost/auth/company/callback';
    provider = await startCertifiedProvider({ client: { ...client, redirectUri } });
    const config = replaced(await file('deploy/docker/config.yaml'), {
      // The test has a provider of its own.
      'github:\n': 'company:\n',
      '/keys/key': './key',
      'shared-memory: unix:/memory/socket': '',
      'trusted-proxies: [172.16.0.0/12, 192.168.0.0/16]': 'trusted-proxies: [127.0.0.1]',
      'client-id:\n': `client-id: ${client.clientId}\n    issuer: ${provider.issuer}\n    scope: openid\n`,
      '/run/secrets/client-secret': await workspace.write('client-secret', client.clientSecret),
      'documents:9000': '127.0.0.1:9000',
    });
    expect(networks.inside).to.deep.equal({ internal: true });
    expect(services.documents).to.not.have.property('ports');
    expect(services.documents.networks).to.deep.equal(['inside']);
    const port = await freePort();
    const [program, ...words] = services.documents.command;
    const command = words.map((word: string) =>
      word === '/srv' ? join(projectRoot, 'docs') : word.replace(':9000', `127.0.0.1:${port}`),
    );
    await workspace.serve(program, command, { host: '127.0.0.1', port });
    const text = await file('deploy/docker/Caddyfile');
    const variables = Object.fromEntries(
      Object.entries<string>(services.proxy.environment).map(([name, value]) => [
        name,
        value.replace(/^.*:-(.*)}$/, '$1'),
      ]),
    );
    site = await Site.start(workspace, config.replace('127.0.0.1:9000', `127.0.0.1:${port}`), (relayPort) => ({
      text,
      variables: { ...variables, RELAY: `127.0.0.1:${relayPort}` },
    }));
  });
  after('stop it', async () => {
    await site.stop();
    await provider.close();
    await workspace.close();
  });

  const openPage = useBrowser(() => launchFor('localhost', site.tlsPort));

  it('open after a login, and do not open after a logout', async () => {
    const page = await openPage();
    await page.goto('https://documents.localhost/');
    await logIn(page, 'ada');
    await page.getByRole('link', { name: 'dashboard.md' }).waitFor();
    await page.goto('https://documents.localhost/.login-relay/logout');
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'logged out' }).waitFor();
    expect((await site.ask('https://documents.localhost/dashboard.md', {})).status).to.equal(401);
  });
});
