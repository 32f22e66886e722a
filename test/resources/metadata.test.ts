import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import type { Sending } from '../harness/client/request.ts';
import { resourcesRelay } from './support/resources-relay.ts';

const wellKnown = '/.well-known/oauth-protected-resource';
const ofServer = '/.well-known/oauth-authorization-server/auth/provider';
const page = 'https://any.example';

describe('the metadata of several resources', () => {
  const relay = resourcesRelay({
    relay: `resources:
  notes: { url: https://notes.example.com/mcp }
  files: { url: https://files.example.com/mcp }
  port: { url: https://port.example.com:8443/mcp }
  below: { url: https://relay.example/notes/mcp }
`,
    frontEnds: `  app: { origin: https://app.example, token-delivery: code, resources: [notes, files, port, below] }
`,
  });
  const at = async (path: string, authority = 'relay.example', more: Partial<Sending> = {}) =>
    await relay().send({ path: wellKnown + path, authority, ...more });

  it('are at their own host and at that of the login, each at its path', async () => {
    for (const [authority, path, resource] of [
      ['notes.example.com', '/mcp', 'https://notes.example.com/mcp'],
      ['FILES.example.com', '/mcp', 'https://files.example.com/mcp'],
      ['files.example.com:443', '/mcp', 'https://files.example.com/mcp'],
      ['port.example.com:8443', '/mcp', 'https://port.example.com:8443/mcp'],
      // A proxy may leave out the port.
      ['port.example.com', '/mcp', 'https://port.example.com:8443/mcp'],
      ['relay.example', '/notes/mcp', 'https://relay.example/notes/mcp'],
    ] as const) {
      const answer = await at(path, authority);
      expect(answer.status, authority).to.equal(200);
      expect(jsonOf(answer)).to.include({ resource });
      expect(answer.headers).to.include({ 'cache-control': 'public, max-age=60' });
      const { status, body, headers } = await at(path, authority, { method: 'HEAD' });
      expect([status, body.length]).to.deep.equal([200, 0]);
      expect(headers['content-length']).to.equal(`${answer.body.length}`);
    }
    for (const [authority, path] of [
      ['other.example.com', '/mcp'],
      ['notes.example.com', ''],
      ['relay.example', '/mcp'],
    ] as const) {
      expect((await at(path, authority)).status, authority + path).to.equal(404);
    }
  });

  it('can be read by all pages, as that of the login, and no warning says that one is foreign', async () => {
    const authority = 'notes.example.com';
    for (const path of [`${wellKnown}/mcp`, ofServer]) {
      const preflight = await relay().send({
        method: 'OPTIONS',
        path,
        authority,
        headers: [
          ['Origin', page],
          ['Access-Control-Request-Method', 'GET'],
          ['Access-Control-Request-Headers', 'mcp-protocol-version'],
        ],
      });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers, path).to.include({
        'access-control-allow-origin': page,
        'access-control-allow-headers': 'mcp-protocol-version',
      });
      const { headers } = await relay().send({
        path,
        authority,
        headers: [
          ['Origin', page],
          ['MCP-Protocol-Version', '2026-07-28'],
        ],
      });
      // A cache keeps the resource's for all pages.
      const isCacheable = path !== ofServer;
      expect(headers).to.include({ 'access-control-allow-origin': isCacheable ? '*' : page });
      expect('vary' in headers, 'Vary').to.equal(!isCacheable);
      expect(headers).not.to.have.property('access-control-allow-credentials');
    }
    expect(JSON.stringify(relay().lines)).not.to.contain('another origin');
  });
});
