import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClientsRelay, jsonOf } from '../../clients/support/clients-relay.ts';
import { serveSessions, serveWithoutSessions } from './support/conformance-server.ts';
import { machineSecret } from './support/gateway-rig.ts';
import { programOf } from './support/programs.ts';

/** Features that a server need not have, and that this server does not have. */
const optional = /^server-(?:tasks-|json-schema-|http-custom-header-)/;

/**
 * Adds a token to the requests of a client to a port, and changes nothing else, because the suite knows no logins. The page
 * of an attacker has no token.
 */
async function withToken(port: number, token: string): Promise<{ port: number; close(): void }> {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { method, url: path, rawHeaders } = request;
    const passed = ask({ host: '127.0.0.1', port, method, path, agent: false });
    for (let at = 0; at < rawHeaders.length; at += 2) passed.setHeader(`${rawHeaders[at]}`, `${rawHeaders[at + 1]}`);
    if (request.headers.origin?.includes('evil') !== true) passed.setHeader('Authorization', `Bearer ${token}`);
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.rawHeaders).flushHeaders();
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: Object(server.address()).port, close: () => server.close() };
}

/** The findings of the suite: the status of each check, in order. */
async function findings(url: string, revision: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'login-relay-'));
  const program = programOf('@modelcontextprotocol/conformance/dist/index.js');
  const words = ['server', '--url', url, '--requirements', revision, '--output-dir', folder];
  await once(spawn(process.execPath, [program, ...words], { stdio: 'ignore' }), 'close');
  const found = readdirSync(folder).flatMap((scenario) => {
    const checks: Check[] = JSON.parse(readFileSync(join(folder, scenario, 'checks.json'), 'utf8'));
    const name = scenario.replace(/-\d{4}-\d\d-\d\dT.*/, '');
    return checks.map(({ id, status }) => `${name} ${id}: ${status}`);
  });
  rmSync(folder, { recursive: true });
  return found.sort();
}

interface Check {
  readonly id: string;
  readonly status: string;
}

describe('the conformance suite of MCP', () => {
  for (const [revision, serve] of [
    ['2025-11-25', serveSessions],
    ['2026-07-28', serveWithoutSessions],
  ] as const) {
    it(`says of a server behind the gateway what it says of the server itself, at ${revision}`, async () => {
      const server = await serve();
      const relay = await ClientsRelay.listen();
      await relay.restart({
        here: true,
        relay: `resources: { tools: { url: 'http://127.0.0.1:${relay.port}/mcp', upstream: 'http://127.0.0.1:${server.port}/mcp' } }\n`,
        frontEnds: '  ci: { kind: machine, secret-file: ./ci, resources: [tools] }\n',
        files: { './ci': machineSecret },
      });
      const form = { grant_type: 'client_credentials', client_id: 'ci', client_secret: machineSecret };
      const token = `${jsonOf(await relay.post('token', form))['access_token']}`;
      const direct = await withToken(server.port, token);
      const behind = await withToken(relay.port, token);
      const itself = await findings(`http://127.0.0.1:${direct.port}/mcp`, revision);
      const throughGateway = await findings(`http://127.0.0.1:${behind.port}/mcp`, revision);
      for (const one of [direct, behind, server]) await one.close();
      await relay.stop();
      expect(throughGateway).to.deep.equal(itself);
      expect(itself.filter((line) => line.endsWith(': FAILURE') && !optional.test(line))).to.deep.equal([]);
      expect(itself.filter((line) => line.endsWith(': SUCCESS'))).to.have.length.above(60);
    });
  }
});
