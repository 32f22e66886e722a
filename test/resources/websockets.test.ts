import { expect } from 'chai';
import { serveTcp } from '../harness/provider/serve.ts';
import { eventually } from '../harness/system/eventually.ts';
import { accept, key, opening, switching, webSocketRelay } from './support/websocket-relay.ts';

describe('a WebSocket through the gateway', () => {
  const sockets = webSocketRelay();
  const { relay } = sockets;
  let token: string;
  beforeEach(async () => {
    token = (await relay().tokens()).access_token;
  });

  it('is opened by the token, and the server learns who has opened it', async () => {
    const client = await sockets.connect();
    client.say(
      opening(token, {
        Origin: 'https://any.example',
        Cookie: 'a=1',
        'X-Forwarded-User': 'mallory',
        'Sec-WebSocket-Protocol': 'chat, superchat',
        'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits',
      }),
    );
    const behind = await sockets.behind();
    await behind.hear('\r\n\r\n');
    const [line, ...headers] = behind.heard().trim().split('\r\n');
    expect(line).to.equal('GET /mcp HTTP/1.1');
    expect(headers.map((one) => one.replace(/(?<=x-request-id: ).*/, 'an id'))).to.have.members([
      'x-forwarded-host: notes.example.com',
      'x-forwarded-proto: https',
      'x-request-id: an id',
      'x-forwarded-user: 42',
      'x-forwarded-preferred-username: ada',
      'x-forwarded-email: ada@example.com',
      'x-forwarded-groups: staff,a%2C%20b',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version: 13',
      'sec-websocket-protocol: chat, superchat',
      'sec-websocket-extensions: permessage-deflate; client_max_window_bits',
      `Host: 127.0.0.1:${sockets.behindPort}`,
    ]);
    const protocol = { 'Sec-WebSocket-Protocol': 'chat', 'Sec-WebSocket-Extensions': 'permessage-deflate' };
    behind.socket.write(switching({ ...protocol, 'Content-Length': '5', 'Set-Cookie': 'a=1', 'X-Own': '1' }));
    await client.hear('\r\n\r\n');
    expect(client.heard).to.match(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    const head = client.heard.toLowerCase();
    for (const [name, value] of [
      ['connection', 'Upgrade'],
      ['upgrade', 'websocket'],
      ['sec-websocket-accept', accept],
      ['sec-websocket-protocol', 'chat'],
      ['sec-websocket-extensions', 'permessage-deflate'],
      ['x-own', '1'],
    ] as const) {
      expect(head).to.include(`\r\n${name}: ${value}\r\n`.toLowerCase());
    }
    expect(head).not.to.match(/\r\n(content-length|content-type|transfer-encoding|set-cookie|keep-alive):/);
    client.say('from the client');
    await behind.hear('from the client');
    behind.socket.write('from the server');
    await client.hear('from the server');
    behind.socket.end();
    await client.closed;
    await eventually(async () => {
      expect(relay().lines.at(-1)).to.deep.include({
        action: 'gateway',
        resource: 'notes',
        status: 101,
        outcome: 'ok',
        ended: 'upstream',
        webSocket: { received: 15, sent: 15 },
      });
    });
  });

  it('passes no byte of either side before the 101, and all of them after it, in order', async () => {
    const early = Array.from({ length: 5_000 }, (_, index) => `frame ${index},`).join('');
    const client = await sockets.connect();
    client.say(opening(token) + early);
    const behind = await sockets.behind();
    await behind.hear('\r\n\r\n');
    const head = behind.heard();
    expect(head.endsWith('\r\n\r\n')).to.equal(true);
    // Another request of the process, there and back, gives the frames the time to come.
    expect((await relay().use('notes', 'junk')).status).to.equal(401);
    behind.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    expect((await relay().use('notes', 'junk')).status).to.equal(401);
    expect([behind.heard(), client.heard]).to.deep.equal([head, '']);
    behind.socket.write(`${switching()}at once`);
    await client.hear('at once');
    await behind.hear('frame 4999,');
    expect(behind.heard()).to.equal(head + early);
    expect(client.heard.split('\r\n\r\n')[1]).to.equal('at once');
  });

  it('is refused if the client sends 64 KiB before the 101, and gives its place back', async () => {
    const client = await sockets.connect();
    client.say(opening(token) + 'a'.repeat(64 * 1024 + 1));
    const behind = await sockets.behind();
    await client.closed;
    expect(client.heard).to.match(/^HTTP\/1\.1 413 /);
    await behind.closed;
    await eventually(async () => {
      expect(relay().lines.at(-1)).to.include({ action: 'gateway', outcome: 'upload_too_large', ended: 'limit' });
    });
  });

  for (const [what, early] of [
    ['', ''],
    [', even if it has sent bytes before that', 'frame 1'],
  ] as const) {
    it(`gives its place back as soon as the client closes before the 101${what}`, async () => {
      const client = await sockets.connect();
      client.say(opening(token) + early);
      const behind = await sockets.behind();
      await behind.hear('\r\n\r\n');
      client.socket.end();
      await behind.closed;
      await eventually(async () => {
        expect(relay().lines.at(-1)).to.include({ action: 'gateway', outcome: 'client_gone', ended: 'client' });
      });
    });
  }

  it('is refused as any request is, by an answer that ends the connection, whatever follows', async () => {
    const closed = await serveTcp(() => {});
    await closed.close();
    const smuggled = opening(token).replace('/mcp', '/mcp/smuggled');
    for (const [name, line, path, headers] of [
      ['no token', undefined, '/mcp', {}],
      ['a bad token', 'junk', '/mcp', {}],
      ['a token in the query', undefined, `/mcp?access_token=${token}`, {}],
      ['two tokens', token, '/mcp', { authorization: `Bearer ${token}` }],
      ['another resource', (await relay().tokens('giving')).access_token, '/mcp', {}],
      ['a path that is refused', token, '/mcp/%2e%2e/admin', {}],
      ['no such address', token, '/nothing', {}],
      ['no such host', token, '/mcp', { Host: 'other.example.com' }],
    ] as const) {
      const client = await sockets.connect();
      client.say(opening(line, headers, `GET ${path} HTTP/1.1`) + smuggled);
      await client.closed;
      const ordinary = await sockets.connect(await sockets.listen());
      ordinary.say(opening(line, { ...headers, Upgrade: '', Connection: 'close' }, `GET ${path} HTTP/1.1`));
      await ordinary.closed;
      const steady = (heard: string) => heard.replaceAll(/^(x-request-id|date): .*\r\n/gim, '').toLowerCase();
      expect(steady(client.heard), name).to.equal(steady(ordinary.heard));
      expect(client.heard.match(/HTTP\/1\.1 /g), name).to.have.length(1);
    }
    expect(sockets.unseen).to.equal(0);
    await relay().reload(relay().settings({}, closed.port));
    const client = await sockets.connect();
    client.say(opening(token));
    await client.closed;
    expect(client.heard).to.match(/^HTTP\/1\.1 502 /);
    expect(relay().lines.at(-1)).to.include({ outcome: 'upstream_unreachable', ended: 'upstream' });
    expect(relay().lines.at(-1)).not.to.have.property('webSocket');
  });

  it('gets the own answer of a server that refuses it, and 502 for its 401', async () => {
    for (const [answer, expected] of [
      [
        '403 Forbidden\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nno',
        /^HTTP\/1\.1 403 [\s\S]*x-own: 1[\s\S]*\r\n\r\nno$/i,
      ],
      ['404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n', /^HTTP\/1\.1 404 /],
      [
        '426 Upgrade Required\r\nSec-WebSocket-Version: 13, 8\r\nContent-Length: 0\r\n\r\n',
        /^HTTP\/1\.1 426 [\s\S]*sec-websocket-version: 13, 8/i,
      ],
      ['200 OK\r\nContent-Length: 2\r\n\r\nok', /^HTTP\/1\.1 200 /],
      ['200 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nok', /^HTTP\/1\.1 200 /],
      ['401 Unauthorized\r\nContent-Length: 2\r\n\r\nno', /^HTTP\/1\.1 502 /],
      ['407 Proxy\r\nContent-Length: 2\r\n\r\nno', /^HTTP\/1\.1 502 /],
    ] as const) {
      const client = await sockets.connect();
      client.say(`${opening(token)}a frame`);
      const behind = await sockets.behind();
      await behind.hear('\r\n\r\n');
      behind.socket.write(`HTTP/1.1 ${answer}`);
      await Promise.all([client.closed, behind.closed]);
      expect(client.heard)
        .to.match(expected)
        .and.to.match(/connection: close/i);
      expect(client.heard).not.to.match(/\r\nupgrade:/i);
      expect(behind.heard()).not.to.include('a frame');
    }
  });

  it('gets a long answer of a server that refuses it as fast as it reads, and nothing after that', async () => {
    const client = await sockets.connect();
    client.say(opening(token));
    client.socket.pause();
    const behind = await sockets.behind();
    const length = 8 * 1024 * 1024;
    behind.socket.write(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${length}\r\n\r\n`);
    behind.socket.write(Buffer.alloc(length, 'x'));
    await eventually(async () => {
      expect(behind.socket.writableLength).to.be.above(0);
    });
    client.socket.resume();
    await client.closed;
    expect(client.heard.split('\r\n\r\n')[1]).to.have.length(length);
  });

  it('needs a 101 that answers its key, and switches only to WebSocket', async () => {
    for (const changes of [
      { 'Sec-WebSocket-Accept': '' },
      { 'Sec-WebSocket-Accept': accept.toLowerCase() },
      { 'Sec-WebSocket-Accept': `${accept}\r\nSec-WebSocket-Accept: ${accept}` },
      { Upgrade: 'h2c' },
      { Upgrade: 'websocket, h2c' },
      { Upgrade: 'websocket\r\nUpgrade: h2c' },
      { Upgrade: 'websocket\r\nUpgrade: websocket' },
      { Upgrade: '' },
      { Connection: 'close' },
      { Connection: '' },
    ]) {
      const client = await sockets.connect();
      client.say(`${opening(token)}a frame`);
      const behind = await sockets.behind();
      await behind.hear('\r\n\r\n');
      behind.socket.write(`${switching(changes)}HTTP/1.1 999 no\r\n\r\nsmuggled`);
      await Promise.all([client.closed, behind.closed]);
      expect(client.heard, JSON.stringify(changes)).to.match(/^HTTP\/1\.1 502 /);
      expect(client.heard).not.to.include('smuggled');
      expect(behind.heard()).not.to.include('a frame');
      expect(relay().lines.at(-1)).not.to.have.property('webSocket');
    }
  });

  it('is not opened by a 101 that the client has not requested', async () => {
    for (const changes of [{}, { Upgrade: '' }, { Upgrade: 'h2c' }]) {
      const client = await sockets.connect();
      client.say(opening(token, { Upgrade: '', Connection: '' }));
      const behind = await sockets.behind();
      behind.socket.write(`${switching(changes)}smuggled`);
      await client.hear('}');
      expect(client.heard).to.match(/^HTTP\/1\.1 502 /);
      await behind.closed;
    }
  });

  it('is opened by exactly one form of request, and any other request is refused or is not a WebSocket', async () => {
    const bare = { 'Sec-WebSocket-Key': '' };
    for (const [changes, line] of [
      [{ 'Sec-WebSocket-Version': '' }],
      [{ 'Sec-WebSocket-Version': '8' }],
      [{ 'Sec-WebSocket-Version': '13, 8' }],
      [{ 'Sec-WebSocket-Version': '13\r\nSec-WebSocket-Version: 13' }],
      [bare],
      [{ 'Sec-WebSocket-Key': 'short' }],
      [{ 'Sec-WebSocket-Key': `${key}\r\nSec-WebSocket-Key: ${key}` }],
      [{ Upgrade: 'websocket, h2c' }],
      [{ Upgrade: 'h2c, websocket' }],
      [{ Upgrade: 'websocket\r\nUpgrade: h2c' }],
      [{ Upgrade: 'websocket\r\nUpgrade: websocket' }],
      [{ Upgrade: 'websocket/13' }],
      [{ Connection: 'keep-alive' }],
      [{ Connection: 'x-upgrade' }],
      [{ 'Content-Length': '0' }],
      [{ 'Content-Length': '7' }],
      [{ 'Transfer-Encoding': 'chunked' }],
      [{}, 'POST /mcp HTTP/1.1'],
      [{}, 'HEAD /mcp HTTP/1.1'],
      [{}, 'GET /mcp HTTP/1.0'],
    ] as [Record<string, string>, string?][]) {
      const client = await sockets.connect();
      client.say(opening(token, changes, line));
      await client.hear('\r\n\r\n');
      expect(client.heard, JSON.stringify([changes, line])).to.match(/^HTTP\/1\.1 426 /);
      expect(client.heard).to.match(/\r\nsec-websocket-version: 13\r\n/i);
    }
    for (const [changes, status] of [
      [{ Upgrade: 'web\r\n socket' }, 400],
      [{ 'Sec-WebSocket-Key': `dGhlIHNhbXBsZSBu\r\n b25jZQ==` }, 400],
      [{ 'Content-Length': '1', 'Transfer-Encoding': 'chunked' }, 400],
      [{ Host: '' }, 400],
    ] as const) {
      const client = await sockets.connect();
      client.say(opening(token, changes));
      await client.closed;
      expect(client.heard, JSON.stringify(changes)).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
    }
    expect(sockets.unseen).to.equal(0);
  });

  it('asks the server for no other protocol, whatever Connection names', async () => {
    for (const upgrade of ['h2c', 'TLS/1.0', 'foo']) {
      const client = await sockets.connect();
      client.say(opening(token, { Upgrade: upgrade, 'HTTP2-Settings': 'AAMAAABk' }));
      const behind = await sockets.behind();
      await behind.hear('\r\n\r\n');
      expect(behind.heard(), upgrade).not.to.match(/\r\n(upgrade|http2-settings|sec-websocket-key):/i);
      client.close();
    }
    const client = await sockets.connect();
    const named = 'close, Sec-WebSocket-Key, Upgrade, X-Forwarded-User, X-Secret, Sec-WebSocket-Version';
    client.say(opening(token, { Connection: named, 'X-Secret': '1' }));
    const behind = await sockets.behind();
    await behind.hear('\r\n\r\n');
    expect(behind.heard()).to.include(`\r\nsec-websocket-key: ${key}\r\n`);
    expect(behind.heard()).to.include('\r\nx-forwarded-user: 42\r\n');
    expect(behind.heard()).not.to.match(/x-secret|connection: close/i);
  });

  it('is opened behind no request that is in flight, and nothing behind it is a request', async () => {
    const ordinary = opening(token, { Upgrade: '', Connection: '' });
    const client = await sockets.connect();
    client.say(ordinary + opening(token) + ordinary.replace('/mcp', '/mcp/third'));
    const first = await sockets.behind();
    await first.hear('\r\n\r\n');
    first.socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
    await client.closed;
    const statuses = [...client.heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).to.deep.equal(['200', '426']);
    expect(sockets.unseen).to.equal(0);
    // After the answer, the same connection can open a WebSocket.
    const second = await sockets.connect();
    second.say(ordinary);
    const behind = await sockets.behind();
    behind.socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
    await second.hear('ok');
    second.say(opening(token) + ordinary);
    const opened = await sockets.behind();
    await opened.hear('\r\n\r\n');
    opened.socket.write(switching());
    await opened.hear(ordinary);
    expect(sockets.unseen).to.equal(0);
  });

  it('cannot be opened at other addresses, which answer as usual and close the connection', async () => {
    for (const path of ['/healthz', '/auth/provider/nothing', '/.well-known/oauth-protected-resource/mcp', '/']) {
      for (const upgrade of ['websocket', 'h2c']) {
        const client = await sockets.connect();
        const request = opening(undefined, { Upgrade: upgrade }, `GET ${path} HTTP/1.1`);
        // Node.js would lose the first half of the next request, and take the second half for a request.
        client.say(`${request}POST /lost HTTP/1.1\r\nHost: notes.example.com\r\nContent-Length: 99\r\n\r\n`);
        await client.hear('\r\n\r\n');
        client.say(`GET /smuggled HTTP/1.1\r\nHost: notes.example.com\r\n\r\n`);
        await client.closed;
        const { status } = await relay().send({ path, authority: 'notes.example.com' });
        expect(client.heard, path).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(client.heard.match(/HTTP\/1\.1 /g), path).to.have.length(1);
      }
    }
  });
});
