import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ws as Client, wsServer as Server } from 'playwright-core/lib/utilsBundle';
import { documented } from '../harness/project/shipped-pages.ts';
import { webSocketRelay } from './support/websocket-relay.ts';

const run = promisify(execFile);

describe('the library ws, on both sides of the gateway', () => {
  const sockets = webSocketRelay();
  const { relay } = sockets;
  let server: Server;
  let asked: IncomingMessage[];
  let url: string;
  let token: string;
  let refreshToken: string;

  beforeEach(async () => {
    asked = [];
    server = new Server({ port: 0, host: '127.0.0.1', perMessageDeflate: true, maxPayload: 64 * 1024 * 1024 });
    server.on('connection', (socket: Client, request: IncomingMessage) => {
      asked.push(request);
      socket.on('error', () => {});
      socket.on('message', (data: Buffer, isBinary: boolean) => socket.send(isBinary ? data : `${data}`));
    });
    await once(server, 'listening');
    await relay().reload(relay().settings({}, server.address().port));
    const { address } = await sockets.listen();
    url = `${address.replace('http', 'ws')}/mcp`;
    ({ access_token: token, refresh_token: refreshToken } = await relay().tokens());
  });
  afterEach(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  const headers = (given = token) => ({ Authorization: `Bearer ${given}`, Host: 'notes.example.com' });
  const connect = (protocols: readonly string[] = [], options: object = {}) =>
    new Client(url, protocols, { headers: headers(), ...options });
  async function open(...given: Parameters<typeof connect>): Promise<Client> {
    const client = connect(...given);
    await once(client, 'open');
    return client;
  }
  async function echo(client: Client, data: string | Buffer): Promise<Buffer> {
    const answer = once(client, 'message');
    client.send(data);
    const [received] = await answer;
    return received;
  }
  /** How a client's WebSocket ends. */
  const end = async (client: Client) => {
    const [code, reason] = await once(client, 'close');
    return `${code} ${reason}`;
  };

  it('agrees on compression and a subprotocol, and learns who it is', async () => {
    const client = await open(['chat', 'superchat'], { perMessageDeflate: { threshold: 0 } });
    expect([client.protocol, client.extensions]).to.deep.equal(['chat', 'permessage-deflate']);
    expect(asked[0]?.headers).to.include({ 'x-forwarded-user': '42' }).and.not.to.have.property('authorization');
    expect(`${await echo(client, 'hello')}`).to.equal('hello');
    client.close(1000, 'done');
    expect(await end(client)).to.equal('1000 done');
  });

  it('passes messages of any size, compressed and not, pings and pongs', async () => {
    for (const perMessageDeflate of [true, false]) {
      const client = await open([], { perMessageDeflate });
      for (const size of [0, 1, 125, 126, 65_535, 65_536, 5 * 1024 * 1024]) {
        const data = Buffer.alloc(size, 'some text ');
        expect((await echo(client, data)).equals(data), `${size}`).to.equal(true);
      }
      const pong = once(client, 'pong');
      client.ping('how are you');
      expect(`${(await pong)[0]}`).to.equal('how are you');
      const many = Array.from({ length: 2_000 }, (_, index) => `message ${index}`);
      const received: string[] = [];
      client.on('message', (data) => received.push(`${data}`));
      for (const one of many) client.send(one);
      while (received.length < many.length) await once(client, 'message');
      expect(received).to.deep.equal(many);
      client.close();
      expect(await end(client)).to.equal('1005 ');
    }
  });

  it('is told why it ends, between its messages', async () => {
    const client = await open();
    let isOver = false;
    const over = end(client).finally(() => {
      isOver = true;
    });
    client.on('error', (error) => expect.fail(`${error}`));
    client.on('message', (data: Buffer) => {
      expect(data.length).to.equal(100_000);
      if (!isOver) client.send(data);
    });
    client.send(Buffer.alloc(100_000));
    await once(client, 'message');
    await relay().post('revoke', { client_id: 'app', token: refreshToken });
    expect(await over).to.equal('1008 logout');
  });

  it('is refused with the status of any request', async () => {
    const refused = connect([], { headers: headers('junk') });
    const [error] = await once(refused, 'error');
    expect(`${error}`).to.include('Unexpected server response: 401');
  });

  it('is what docs/resources.md shows', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'login-relay-'));
    server.on('connection', (socket: Client) => {
      socket.send('hello');
      setImmediate(() => socket.close(1000, 'that is all'));
    });
    const library = join(folder, 'node_modules/ws');
    await mkdir(library, { recursive: true });
    const bundle = import.meta.resolve('playwright-core/lib/utilsBundle');
    await writeFile(join(library, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
    await writeFile(
      join(library, 'index.js'),
      `import bundle from '${bundle}';\nexport default class extends bundle.ws {\n  constructor(url, { headers }) {\n    super(url, { headers: { ...headers, Host: 'notes.example.com' } });\n  }\n}\n`,
    );
    const code = documented('socket.js', '', 'resources').replace('wss://notes.example.com/mcp', url);
    await writeFile(join(folder, 'socket.mjs'), code);
    const { stdout } = await run(process.execPath, ['socket.mjs'], { cwd: folder, env: { TOKEN: token } });
    expect(stdout).to.equal('hello\n1000 that is all\n');
    await rm(folder, { recursive: true });
  });
});
