import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import type { Sending } from '../harness/client/request.ts';
import { logIn, notes, ofApp, resourcesRelay, tokensOf } from './support/resources-relay.ts';

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

  it('are at their own host and at the host of the login, each at its path', async () => {
    for (const [authority, path, resource] of [
      ['notes.example.com', '/mcp', 'https://notes.example.com/mcp'],
      ['FILES.example.com', '/mcp', 'https://files.example.com/mcp'],
      ['files.example.com:443', '/mcp', 'https://files.example.com/mcp'],
      ['port.example.com:8443', '/mcp', 'https://port.example.com:8443/mcp'],
      // A proxy may leave out the port.
      ['port.example.com', '/mcp', 'https://port.example.com:8443/mcp'],
      ['relay.example', '/notes/mcp', 'https://relay.example/notes/mcp'],
      // The only resource of its host is also where clients look that know only the host.
      ['notes.example.com', '', 'https://notes.example.com/mcp'],
      ['port.example.com', '', 'https://port.example.com:8443/mcp'],
      ['relay.example', '', 'https://relay.example/notes/mcp'],
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
      ['other.example.com', ''],
      ['notes.example.com', '/'],
      ['relay.example', '/mcp'],
    ] as const) {
      expect((await at(path, authority)).status, authority + path).to.equal(404);
    }
  });

  it('can be read by pages of all origins, like the metadata of the login, without a warning about a foreign page', async () => {
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

describe('the bare address of metadata, at a host with two resources', () => {
  const relay = resourcesRelay({
    relay: `resources:
  notes: { url: https://api.example.com/notes }
  files: { url: https://api.example.com/files }
  root: { url: https://root.example.com/ }
  below: { url: https://root.example.com/below }
  ports: { url: https://ports.example.com/mcp }
  other: { url: https://ports.example.com:8443/mcp }
`,
    frontEnds: `  app:
    origin: https://app.example
    token-delivery: code
    resources: [notes, files, root, below, ports, other]
`,
  });
  const at = async (authority: string) => await relay().send({ path: wellKnown, authority });

  it('has none of them, except for a resource that is the whole host', async () => {
    expect((await at('api.example.com')).status).to.equal(404);
    expect(jsonOf(await at('root.example.com'))).to.include({ resource: 'https://root.example.com/' });
  });

  it('belongs to the resource with the port of the request, and to no resource if a proxy removes the port', async () => {
    expect(jsonOf(await at('ports.example.com:8443'))).to.include({ resource: 'https://ports.example.com:8443/mcp' });
    expect(jsonOf(await at('ports.example.com'))).to.include({ resource: 'https://ports.example.com/mcp' });
    expect((await at('ports.example.com:9443')).status).to.equal(404);
  });
});

describe('an address at which clients guess metadata', () => {
  const relay = resourcesRelay();
  const guesses = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/oauth-protected-resource/elsewhere',
    '/.well-known/oauth-something-new',
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/auth/provider',
    '/auth/provider/.well-known/openid-configuration',
  ];
  const headers: [string, string][] = [['Origin', page]];

  it('says to every page that nothing is there, and no warning calls the page foreign', async () => {
    for (const path of guesses) {
      const answer = await relay().send({ path, headers });
      expect(answer.status, path).to.equal(404);
      expect(answer.headers, path).to.include({ 'access-control-allow-origin': '*' });
      expect(answer.headers).not.to.have.any.keys('access-control-allow-credentials', 'vary');
      const { headers: ofPreflight } = await relay().preflight(path, page);
      expect(ofPreflight['access-control-allow-origin'], path).to.equal(page);
      expect(ofPreflight).not.to.have.property('access-control-allow-credentials');
    }
    expect(JSON.stringify(relay().lines)).not.to.contain('another origin');
  });

  it('answers the page of a front end as everywhere, with credentials', async () => {
    for (const path of guesses) {
      const answer = await relay().send({ path, headers: [['Origin', 'https://app.example']] });
      expect(answer.headers, path).to.include({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-credentials': 'true',
      });
    }
  });

  it('is the only kind of missing address that pages elsewhere can read', async () => {
    for (const path of [
      '/.well-known/security.txt',
      '/.well-known/oauthx',
      '/.well-known/openid-configurations',
      '/well-known/oauth-authorization-server',
      '/nothing?x=/.well-known/openid-configuration',
    ]) {
      const { headers: found } = await relay().send({ path, headers });
      expect(found, path).not.to.have.property('access-control-allow-origin');
    }
  });
});

describe('the answer to a refused request, as MCP Inspector reads it', () => {
  const relay = resourcesRelay();

  it('begins with the word Unauthorized, at the check and at each reason', async () => {
    const { access_token } = tokensOf(await logIn(relay(), { ...ofApp, resource: notes }));
    for (const [token, ahead] of [
      [undefined, 0],
      ['made-up', 0],
      [access_token, 3_601_000],
    ] as const) {
      relay().ahead = ahead;
      const authorization: [string, string][] = token === undefined ? [] : [['Authorization', `Bearer ${token}`]];
      const answer = await relay().send({ path: '/auth/check/notes', headers: authorization });
      expect(answer.status).to.equal(401);
      const { error_description, detail } = jsonOf(answer);
      expect(error_description).to.match(/^Unauthorized\. [A-Z]/);
      expect(detail).to.equal(error_description);
    }
  });
});
