import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { documented, resourceConfigs } from '../../harness/project/shipped-pages.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import {
  logIn,
  ofApp,
  resourcesRelay,
  secret,
  tokensOf,
} from '../../resources/support/resources-relay.ts';

describe('the servers of docs/resources.md', () => {
  const [, , ofPrograms = ''] = resourceConfigs();
  const relay = resourcesRelay({
    here: true,
    relay: ofPrograms
      .replace(/front-ends:.*/s, '')
      .replace('organizations: [example]', "users: ['42']"),
    frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [notes] }',
    files: { './notes-secret': secret },
  });
  // Beside the libraries.
  const folder = mkdtempSync(join(import.meta.dirname, 'node_modules', 'documented-'));
  let workspace: Workspace;
  before(async () => {
    workspace = await Workspace.create();
  });
  after(async () => {
    await workspace.close();
    rmSync(folder, { recursive: true });
  });

  /** Runs a program of the page. @returns its address */
  async function serve(name: string, change = (code: string) => code): Promise<string> {
    const port = await freePort();
    const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
    const of = (program: string) => documented(program, relay().address, 'resources');
    write('person.js', of('person.js'));
    write(`${port}.js`, change(of(name)).replace('9000', `${port}`));
    const listens = { host: '127.0.0.1', port };
    const program = [join(folder, `${port}.js`)];
    await workspace.serve(process.execPath, program, listens, { NOTES_SECRET: secret });
    return `http://127.0.0.1:${port}`;
  }

  const accessToken = async () => tokensOf(await logIn(relay(), ofApp)).access_token;

  it('have an API with Express that knows whom a token belongs to', async () => {
    const api = await serve('express.js');
    const ask = async (headers: Record<string, string>, method = 'GET') =>
      await fetch(api, { method, headers });
    const Authorization = `Bearer ${await accessToken()}`;
    expect(await (await ask({ Authorization })).text()).to.equal('The notes of 42');
    expect((await ask({ Authorization: 'Bearer junk' })).status).to.equal(401);
    const stranger = await ask({});
    expect(stranger.status).to.equal(401);
    expect(stranger.headers.get('Access-Control-Allow-Origin')).to.equal('*');
    expect((await ask({}, 'OPTIONS')).status).to.equal(204);
  });

  /** What the tool says. */
  async function whoami(server: string, headers: Record<string, string>): Promise<string> {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${server}/mcp`), {
      requestInit: { headers },
    });
    await client.connect(transport);
    const { content } = await client.callTool({ name: 'whoami' });
    await client.close();
    return JSON.stringify(content);
  }

  it('have an MCP server that introspects', async () => {
    const server = await serve('mcp.js');
    const token = await accessToken();
    expect(await whoami(server, { Authorization: `Bearer ${token}` })).to.include('You are 42');
    const { status, headers } = await fetch(`${server}/mcp`, { method: 'POST' });
    expect(status).to.equal(401);
    expect(headers.get('WWW-Authenticate')).to.include(
      '/.well-known/oauth-protected-resource/mcp"',
    );
    const metadata = await fetch(`${server}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).to.deep.include({
      resource: 'https://notes.example.com/mcp',
      authorization_servers: [`${relay().address}/auth/provider`],
    });
  });

  it('have one behind a proxy, as the page says: without what introspects', async () => {
    const server = await serve('mcp.js', (code) =>
      code
        .replace(/^const metadata.*\nconst oauthMetadata.*$/m, '')
        .replace(/^async function verifyAccessToken.*?^}$/ms, '')
        .replace(/^app\.use\(mcpAuth.*$/m, '')
        .replace(/^app\.use\('\/mcp'.*?^}\)\);$/ms, '')
        .replace('authInfo }', 'requestInfo }')
        .replace('authInfo.extra.sub', "requestInfo.headers['x-forwarded-user']"),
    );
    expect(await whoami(server, { 'X-Forwarded-User': '42' })).to.include('You are 42');
  });
});
