import { METHODS } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { claimedIdentities } from '../../src/api-proxy/claimed-identities.ts';
import type { Context } from '../../src/http/context.ts';
import { createHostFailure } from '../../src/relay/known-hosts.ts';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import type { Sending } from '../harness/client/request.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { serveTcp } from '../harness/provider/serve.ts';
import { gatewayRelay, type Name, urls } from './support/gateway-relay.ts';
import { ada, bearer } from './support/resources-relay.ts';

const challenge = 'Bearer resource_metadata="https://notes.example.com/.well-known/oauth-protected-resource/mcp"';
const authority = 'notes.example.com';

/** Headers that name a person, an address, a credential or a connection. Each is spelled in several ways. */
const forbidden = [
  'X-Forwarded-User',
  'X-Forwarded-Preferred-Username',
  'X-Forwarded-Email',
  'X-Forwarded-Groups',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded',
  'X-Forwarded-Access-Token',
  'X-Forwarded-Anything',
  'Forwarded',
  'X-Real-IP',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Auth-Request-User',
  'X-Auth-Request-Email',
  'X-User',
  'X-User-Id',
  'X-Username',
  'X-Remote-User',
  'Remote-User',
  'Remote-Groups',
  'X-Webauth-User',
  'X-Login-Relay',
  'Client-IP',
  'X-Client-IP',
  'True-Client-IP',
  'CF-Connecting-Client-IP',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'Cookie',
  'Cookie2',
  'Origin',
  'Referer',
  'DPoP',
  'Proxy-Authorization',
  'Proxy-Connection',
  'Sec-Fetch-Site',
  'Sec-WebSocket-Key',
  'X-Request-Id',
  'Keep-Alive',
  'TE',
  'Trailer',
  'HTTP2-Settings',
  'Max-Forwards',
  'CF-Connecting-IP',
  'X-Envoy-External-Address',
  'X-Appengine-User-Ip',
  'Tailscale-User-Login',
  'Cf-Access-Jwt-Assertion',
  'X-MS-CLIENT-PRINCIPAL-NAME',
  'X-Goog-IAP-JWT-Assertion',
  'X-Amzn-Oidc-Identity',
  'X-Vouch-User',
  'X-Pomerium-Jwt-Assertion',
  'X-Consumer-Username',
  'OIDC_CLAIM_sub',
  'OIDC_CLAIM_anything',
  'Impersonate-Extra-Scopes',
  'SSL_CLIENT_S_DN',
  'X-SSL-Client-CN',
  'X-Email',
  ...Object.values(claimedIdentities).flat(),
];
const spellings = (name: string) => [
  name,
  name.toLowerCase(),
  name.toUpperCase().replaceAll('-', '_'),
  name.replaceAll('-', '_'),
  name.replace('-', '_'),
  name.toLowerCase().replaceAll('-', '.'),
  [...name].map((one, index) => (index % 2 ? one.toUpperCase() : one.toLowerCase())).join(''),
];

describe('a request to the gateway', () => {
  const relay = gatewayRelay();
  let token: string;
  beforeEach(async () => {
    token = (await relay().tokens()).access_token;
  });
  const use = async (sending?: Partial<Sending>) => await relay().use('notes', token, sending);

  it('needs a token before anything else, whatever its method, and the server is not asked', async () => {
    const methods = METHODS.filter((one) => one !== 'CONNECT');
    for (const method of methods) {
      for (const path of ['/mcp', '/mcp/%2e%2e/a']) {
        const none = await relay().send({ method, path, authority });
        expect(none.status, method).to.equal(401);
        expect(none.headers['www-authenticate']).to.equal(`${challenge}, scope="notes:read"`);
      }
    }
    for (const [headers, status, error] of [
      [[bearer('junk')], 401, 'invalid_token'],
      [[bearer((await relay().tokens('giving')).access_token)], 401, 'invalid_token'],
      [[bearer(token), bearer(token)], 400, 'invalid_request'],
    ] as [[string, string][], number, string][]) {
      const answer = await relay().send({ path: '/mcp', authority, headers });
      expect([answer.status, jsonOf(answer)['error']]).to.deep.equal([status, error]);
      expect(answer.headers['www-authenticate']).to.include(`error="${error}"`);
    }
    const inQuery = await relay().send({ path: `/mcp?access_token=${token}`, authority });
    expect(inQuery.status).to.equal(400);
    expect(relay().requests).to.be.empty;
  });

  it('passes with any method but TRACE', async () => {
    const methods = METHODS.filter((one) => one !== 'CONNECT' && one !== 'TRACE');
    for (const method of methods) expect((await use({ method })).status, method).to.equal(200);
    expect(relay().requests.map(({ method }) => method)).to.deep.equal(methods);
    expect((await use({ method: 'TRACE' })).status).to.equal(405);
    expect(relay().requests).to.have.length(methods.length);
  });

  it('is allowed to every page before it has a token, and its answer is shown without credentials', async () => {
    const asked = 'authorization,mcp-protocol-version';
    const preflight = await relay().send({
      method: 'OPTIONS',
      path: '/mcp',
      authority,
      headers: [
        ['Origin', 'https://any.example'],
        ['Access-Control-Request-Method', 'POST'],
        ['Access-Control-Request-Headers', asked],
      ],
    });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers).to.include({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': asked,
    });
    expect(preflight.headers['access-control-allow-methods']?.split(',')).to.include('DELETE');
    expect(relay().requests).to.be.empty;
    for (const { headers } of [await use(), await relay().send({ path: '/mcp', authority })]) {
      expect(headers['access-control-allow-origin']).to.equal('*');
      expect(headers).not.to.have.property('access-control-allow-credentials');
      const exposed = headers['access-control-expose-headers']?.split(',');
      expect(exposed).to.include.members(['WWW-Authenticate', 'Mcp-Session-Id']);
    }
  });

  it('names its person only in the configured headers, with 900 spellings of forged headers', async () => {
    const all = forbidden.flatMap(spellings);
    expect(all).to.have.length.above(900);
    for (let start = 0; start < all.length; start += 60) {
      const names = all.slice(start, start + 60);
      const connection = await RawConnection.open(relay().port);
      connection.say(
        `GET /mcp HTTP/1.1\r\nHost: ${authority}\r\nAuthorization: Bearer ${token}\r\nConnection: close, x-forwarded-user, X-Secret, x-request-id\r\nX-Secret: 1\r\nMcp-Future: yes\r\n${names.map((name) => `${name}: evil\r\n`).join('')}\r\n`,
      );
      await connection.closed;
      expect(connection.heard).to.match(/^HTTP\/1.1 200 /);
    }
    const heads = relay().requests.map(({ rawHeaders }) =>
      rawHeaders.map((one) => (/^[0-9a-f-]{36}$/.test(one) ? 'an id' : one)),
    );
    expect(heads).to.have.length.above(5);
    for (const head of heads) {
      expect(head).to.deep.equal([
        'mcp-future',
        'yes',
        'x-forwarded-host',
        authority,
        'x-forwarded-proto',
        'https',
        'x-request-id',
        'an id',
        'x-forwarded-user',
        '42',
        'x-forwarded-preferred-username',
        'ada',
        'x-forwarded-email',
        'ada@example.com',
        'x-forwarded-groups',
        'staff,a%2C%20b',
        'Host',
        `127.0.0.1:${relay().upstreamPort}`,
        'Connection',
        'keep-alive',
      ]);
    }
  });

  it('leaves out what is not known of the person', async () => {
    const { access_token } = await relay().tokens('files');
    await relay().use('files', access_token);
    const [request] = relay().requests;
    expect(request?.headers).to.include({ 'x-forwarded-user': '42' });
    expect(request?.headers).not.to.have.any.keys('x-forwarded-email', 'x-forwarded-groups');
  });

  it('is mapped at and below the address of its resource, at its host', async () => {
    const files = (await relay().tokens('files')).access_token;
    const mapped = async (name: Name, path: string) => {
      relay().requests.length = 0;
      const { status } = await relay().use(name, name === 'files' ? files : token, { path });
      return [status, relay().requests[0]?.url];
    };
    for (const [name, path, expected] of [
      ['notes', '/mcp?a=%2f&b', [200, '/mcp?a=%2f&b']],
      ['notes', '/mcp/', [200, '/mcp/']],
      ['notes', '/mcp/a//b', [400, undefined]],
      ['notes', '/mcp/..;/admin', [400, undefined]],
      ['notes', '/mcp/%2e%2e/admin', [400, undefined]],
      ['notes', '/mcpx', [404, undefined]],
      ['notes', '/%6dcp', [404, undefined]],
      ['notes', 'http://notes.example.com/mcp', [400, undefined]],
      ['files', '/files/', [200, '/v1/files/']],
      ['files', '/files/a/b', [200, '/v1/files/a/b']],
      ['files', '/files', [404, undefined]],
    ] as const) {
      expect(await mapped(name, path), path).to.deep.equal(expected);
    }
    for (const [host, path, status] of [
      ['other.example.com', '/mcp', 421],
      ['other.example.com', '/auth/provider', 421],
      ['other.example.com', '/healthz', 200],
      ['relay.example', '/mcp', 404],
      ['notes.example.com:443', '/mcp', 401],
      ['notes.example.com', '/files/', 404],
    ] as const) {
      expect((await relay().send({ path, authority: host })).status, host + path).to.equal(status);
    }
  });

  it('names an unknown host and the known ones in the log alone, shortened and without secrets', async () => {
    const long = `lr1_${'s'.repeat(60)}.example`;
    for (const [authority, asked] of [
      ['other.example.com', 'other.example.com'],
      [long, '(sealed).example'],
    ] as const) {
      const answer = await relay().send({ path: '/mcp', authority });
      expect(`${answer.body}`).not.to.include('example');
      const line = relay().lines.findLast(({ outcome }) => outcome === 'host_unknown');
      expect(line).to.deep.include({ asked, known: ['relay.example', 'notes.example.com'] });
    }
  });

  it('asks about a proxy only where there may be one', () => {
    const ctx = { host: 'other.example' } as Context;
    const detailOf = (behindUnknownProxy: boolean, ...trustedProxies: string[]) =>
      createHostFailure({ trustedProxies, behindUnknownProxy }, new Set(['relay.example']))(ctx).detail;
    expect(detailOf(false)).not.to.include('proxy');
    expect(detailOf(true)).to.include('Does a proxy change it?');
    expect(detailOf(false, '127.0.0.1')).to.include('Does a proxy change it?');
  });

  it('opens neither a WebSocket nor another protocol', async () => {
    const upgrade = (protocol: string): Partial<Sending> => ({
      headers: [
        ['Connection', 'Upgrade'],
        ['Upgrade', protocol],
      ],
    });
    expect((await use(upgrade('websocket'))).status).to.equal(426);
    expect(relay().requests).to.be.empty;
    expect((await use(upgrade('h2c'))).status).to.equal(200);
    expect(relay().requests[0]?.headers).not.to.have.property('upgrade');
  });

  it('is sent once, with its body, if the connection breaks', async () => {
    const sending: Partial<Sending> = {
      method: 'POST',
      body: 'a',
      headers: [['Content-Length', '1']],
    };
    await use(sending);
    const bodies: string[] = [];
    relay().answer = async (request) => {
      bodies.push(await text(request));
      request.socket.destroy();
    };
    const answer = await use(sending);
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([502, undefined]);
    expect(bodies).to.deep.equal(['a']);
    const tooLarge = `${64 * 1024 * 1024 + 1}`;
    expect((await use({ method: 'POST', headers: [['Content-Length', tooLarge]] })).status).to.equal(413);
  });

  it("has the provider's token where that is configured, and the server can refuse it", async () => {
    const tokens = await relay().tokens('giving');
    const given = async () => await relay().use('giving', tokens.access_token);
    await given();
    const [, credential = ''] = relay().requests[0]?.headers.authorization?.split('Bearer ') ?? [];
    expect(relay().provider.accepts(credential)).to.equal(true);
    relay().answer = (_, response) => response.writeHead(401).end();
    const refused = await given();
    expect(refused.status).to.equal(401);
    expect(refused.headers['www-authenticate']).to.include('error="invalid_token"');
    expect((await use()).status).to.equal(502);
    // A token that was issued before does not have it.
    const port = relay().upstreamPort;
    await relay().reload(
      relay().settings({
        notes: `{ url: ${urls.notes}, upstream: http://127.0.0.1:${port}/mcp, token: provider }`,
      }),
    );
    relay().requests.length = 0;
    expect((await use()).status).to.equal(401);
    expect(relay().requests).to.be.empty;
    await relay().reload(relay().settings());
  });

  it("is not made for a token of the provider that is too long, and does not blame the person's groups", async () => {
    const { provider } = relay();
    const { onUser } = provider;
    provider.onToken = json({ access_token: 'a'.repeat(5_000), token_type: 'Bearer' });
    provider.onUser = json(ada);
    const tokens: unknown = await relay().tokens('giving');
    expect(tokens).to.have.property('error_description').that.includes("provider's access token is too long");
    expect(relay().lines.at(-1)).to.include({ outcome: 'provider_token_too_long' });
    provider.forget();
    provider.onUser = onUser;
  });

  it('gets 502 if the server cannot be reached', async () => {
    const closed = await serveTcp(() => {});
    await closed.close();
    await relay().reload(relay().settings({}, closed.port));
    expect((await use()).status).to.equal(502);
    expect(relay().lines.at(-1)).to.include({
      outcome: 'upstream_unreachable',
      ended: 'upstream',
      resource: 'notes',
    });
    await relay().reload(relay().settings());
  });
});

describe('the answer of a server behind the gateway', () => {
  const relay = gatewayRelay();
  let token: string;
  beforeEach(async () => {
    token = (await relay().tokens()).access_token;
  });
  const use = async () => await relay().use('notes', token);

  it('passes with all headers that act on nobody else', async () => {
    relay().answer = (_, response) => {
      response.writeHead(207, {
        'Mcp-Session-Id': 'a',
        'X-Accel-Buffering': 'no',
        ETag: '"b"',
        'X-Any': '1',
        'Content-Type': 'text/html',
        Vary: 'Accept',
        'Cache-Control': 'public, max-age=60, s-maxage=600',
      });
      response.end('<script>');
    };
    const { status, headers, body } = await use();
    expect([status, `${body}`]).to.deep.equal([207, '<script>']);
    expect(headers).to.include({
      'mcp-session-id': 'a',
      'x-accel-buffering': 'no',
      etag: '"b"',
      'x-any': '1',
      'content-type': 'text/html',
      'cache-control': 'private, max-age=60',
      vary: 'Accept, Authorization',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-security-policy']).to.match(/; sandbox$/);
  });

  it('acts neither on the origin of the relay nor on what stands before it', async () => {
    const evil = [
      'Set-Cookie',
      'Clear-Site-Data',
      'Alt-Svc',
      'Strict-Transport-Security',
      'Access-Control-Allow-Credentials',
      'Service-Worker-Allowed',
      'WWW-Authenticate',
      'X-Accel-Redirect',
      'X-Sendfile',
      'X-Accel-Buffering',
      'Refresh',
      'NEL',
      'Report-To',
      'Proxy-Authenticate',
      'X-Login-Relay',
      'Content-Security-Policy-Report-Only',
      'Set-Login',
      'Surrogate-Control',
      'CDN-Cache-Control',
      'Speculation-Rules',
      'Trailer',
      'X-Secret',
      'Secure-Session-Registration',
      'Secure-Session-Challenge',
      'Sec-Session-Registration',
      'Sec-Session-Challenge',
      'Use-As-Dictionary',
      'Shared-Storage-Write',
      'Edge-Control',
      'X-Archive-Files',
      'Observe-Browsing-Topics',
      'Ad-Auction-Signals',
      'Attribution-Reporting-Register-Source',
    ];
    relay().answer = (_, response) => {
      for (const name of evil) response.appendHeader(name, 'evil');
      response.setHeader('Connection', 'X-Secret');
      response.setHeader('X-Request-Id', 'evil');
      response.setHeader('Content-Security-Policy', 'evil');
      response.setHeader('Access-Control-Allow-Origin', 'evil');
      response.end();
    };
    const { status, rawHeaders } = await use();
    expect(status).to.equal(200);
    expect(rawHeaders.join('\n')).not.to.include('evil');
  });

  it('leads only to addresses of the resource', async () => {
    const at = `http://127.0.0.1:${relay().upstreamPort}`;
    for (const [location, expected] of [
      ['/mcp/a?b#c', `${urls.notes}/a?b#c`],
      [`${at}/mcp`, urls.notes],
      [`${urls.notes}/next`, `${urls.notes}/next`],
      // A server behind a proxy may guess the scheme of its address.
      [`${at.replace('http:', 'https:')}/mcp/`, `${urls.notes}/`],
      [`${urls.notes.replace('https:', 'http:')}/next`, `${urls.notes}/next`],
      ['b', undefined],
      ['/mcpx', undefined],
      [`${at}/admin`, undefined],
      ['https://evil.example/mcp', undefined],
      ['//evil.example/mcp', undefined],
      [`http://a@127.0.0.1:${relay().upstreamPort}/mcp`, undefined],
    ] as const) {
      relay().answer = (_, response) => response.writeHead(307, { Location: location }).end();
      const { status, headers } = await use();
      expect([status, headers.location], location).to.deep.equal([307, expected]);
    }
  });

  it('that breaks at once has a head, because a browser sends a POST again if it gets nothing', async () => {
    const broken = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    let closes = false;
    const server = await serveTcp((socket) => {
      const answer = () => (closes ? socket.end(broken) : socket.write(`${broken}no length`));
      socket.on('error', () => {}).on('data', answer);
    });
    await relay().reload(relay().settings({}, server.port));
    const head = `Host: ${authority}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1\r\n\r\na`;
    const post = async (version: string) => {
      const client = await RawConnection.open(relay().port);
      await client.say(`POST /mcp HTTP/${version}\r\n${head}`).closed;
      expect(relay().lines.at(-1)).to.include({ outcome: 'upstream_unreachable', ended: 'upstream' });
      return client.heard;
    };
    const onlyHead = /^HTTP\/1\.1 200 OK\r\n.*Transfer-Encoding: chunked\r\n(?:.*\r\n)?\r\n$/is;
    expect(await post('1.1')).to.match(onlyHead);
    // An HTTP/1.0 client would take the head for the whole answer.
    expect(await post('1.0')).to.equal('');
    closes = true;
    expect(await post('1.1')).to.match(onlyHead);
    await server.close();
    await relay().reload(relay().settings());
  });

  it('is 502 if no client may get it', async () => {
    let bytes = '';
    const server = await serveTcp((socket) => {
      socket.once('data', () => (bytes.endsWith('\na') ? socket.write(bytes) : socket.end(bytes)));
    });
    await relay().reload(relay().settings({}, server.port));
    for (bytes of [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(65_536)}\r\nContent-Length: 0\r\n\r\n`,
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="evil"\r\nContent-Length: 0\r\n\r\n',
      // Its body has no end.
      'HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\na',
      'HTTP/1.1 999 Evil\r\nContent-Length: 0\r\n\r\n',
      'evil',
    ]) {
      const { status, headers } = await use();
      expect(status, bytes.slice(0, 60)).to.equal(502);
      expect(headers).not.to.have.property('www-authenticate');
    }
    bytes = 'HTTP/1.1 205 Reset Content\r\nContent-Length: 9\r\n\r\na';
    expect((await use()).status).to.equal(205);
    bytes = `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(40_000)}\r\nContent-Length: 0\r\n\r\n`;
    const { host, pathname } = new URL(urls.notes);
    const large = { path: pathname, authority: host, maxHeaderSize: 100_000 };
    expect((await relay().send({ ...large, headers: [bearer(token)] })).status).to.equal(200);
    await server.close();
    await relay().reload(relay().settings());
  });
});
