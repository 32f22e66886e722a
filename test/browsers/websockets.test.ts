import { once } from 'node:events';
import { expect } from 'chai';
import { navigationWith } from '../harness/browser/fake-browser.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { type Serving, serveTcp } from '../harness/provider/serve.ts';
import type { Settings } from '../harness/relay/relay-of-file.ts';
import { eventually } from '../harness/system/eventually.ts';
import { accept, closing, frame, listenFor, opening, switching } from '../resources/support/websocket-relay.ts';
import { board, type DoorBrowser, doorRelay, wiki } from './support/door-relay.ts';

const doorCookie = '__Host-Http-lr_door';

describe('a WebSocket of a page, at an application behind the relay', () => {
  let server: Serving;
  /** The heads of the requests that the application has got. */
  let heads: string[] = [];
  const relay = doorRelay();
  const connections: RawConnection[] = [];
  let person: DoorBrowser;
  let port: number;
  let close: () => Promise<void>;

  before(async () => {
    server = await serveTcp((socket) => {
      socket.once('data', (head) => {
        if (!/^upgrade: websocket\r$/im.test(`${head}`)) {
          socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
          return;
        }
        heads.push(`${head}`);
        socket.write(switching({ 'Set-Cookie': `a=1\r\nSet-Cookie: ${doorCookie}=evil` }));
        socket.on('data', () => socket.write(frame('hello')));
      });
    });
  });
  after(async () => await server.close());
  const settings = (browser = 'true'): Settings => {
    const upstream = `upstream: 'http://127.0.0.1:${server.port}/'`;
    return {
      relay: `resources:
  wiki: { url: ${wiki}/, ${upstream}, browser: ${browser} }
  board: { url: ${board}/, ${upstream}, browser: true }
`,
      frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [wiki] }\n',
    };
  };
  beforeEach(async () => {
    await relay().restart(settings());
    relay().lines.length = 0;
    person = relay().person(relay().port);
    await person.visit(`${wiki}/`);
    const listening = await listenFor(relay());
    port = Number(new URL(listening.address).port);
    close = listening.close;
    heads = [];
  });
  afterEach(async () => {
    for (const one of connections.splice(0)) one.close();
    await close();
  });

  /** Sends what a browser sends for a page of this origin, and waits for the head of the answer. */
  async function open(changes: Readonly<Record<string, string>> = {}, url = wiki): Promise<RawConnection> {
    const connection = await RawConnection.open(port);
    connections.push(connection);
    const ofBrowser = {
      Host: new URL(url).host,
      Origin: url,
      Cookie: `a=1; ${person.jar.headerFor(new URL(`${wiki}/`))}`,
      'Sec-Fetch-Site': 'same-origin',
      'Sec-Fetch-Mode': 'websocket',
      'Sec-Fetch-Dest': 'empty',
    };
    connection.say(opening(undefined, { ...ofBrowser, ...changes }, 'GET /socket?a=1 HTTP/1.1'));
    await connection.hear('\r\n\r\n');
    return connection;
  }
  const withoutFetch = { 'Sec-Fetch-Site': '', 'Sec-Fetch-Mode': '', 'Sec-Fetch-Dest': '' };

  it('is opened by the cookie, and looks to the application as if there was no relay', async () => {
    const socket = await open();
    expect(socket.heard).to.match(/^HTTP\/1\.1 101 /);
    expect(socket.heard).to.include(`\r\nsec-websocket-accept: ${accept}\r\n`);
    expect(socket.heard)
      .to.match(/\r\nset-cookie: a=1\r\n/i)
      .and.not.to.include('evil');
    const [head = ''] = heads;
    expect(head).to.match(/^GET \/socket\?a=1 HTTP\/1\.1\r\n/);
    for (const line of [`origin: ${wiki}`, 'cookie: a=1', 'host: wiki.example.com', 'x-forwarded-user: 42']) {
      expect(head.toLowerCase(), line).to.include(`\r\n${line}\r\n`);
    }
    expect(head).not.to.include('lr_door');
    await socket.say('a frame').hear('hello');
  });

  it('needs the origin of the resource, whatever else a page can make a browser send', async () => {
    for (const changes of [
      { Origin: 'https://evil.example' },
      { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'null' },
      { Origin: '' },
      { Origin: `${wiki}.evil.example` },
      { Origin: `${wiki}:443` },
      { Origin: board },
      { ...withoutFetch, Origin: '' },
      { ...withoutFetch, Origin: 'https://evil.example' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', Origin: 'https://evil.example' },
    ]) {
      const socket = await open(changes);
      expect(socket.heard, JSON.stringify(changes)).to.match(/^HTTP\/1\.1 403 /);
      await socket.closed;
    }
    expect((await open(withoutFetch)).heard).to.match(/^HTTP\/1\.1 101 /);
    for (const changes of [{ Cookie: '' }, { Cookie: `${doorCookie}=x` }]) {
      expect((await open(changes)).heard).to.match(/^HTTP\/1\.1 401 /);
    }
    // The cookie of the wiki does not open the board.
    expect((await open({}, board)).heard).to.match(/^HTTP\/1\.1 401 /);
    expect(heads).to.have.length(1);
  });

  it('ends with the logout of the person, who is told', async () => {
    const socket = await open();
    await socket.say('a frame').hear('hello');
    const headers = navigationWith('Sec-Fetch-Site', 'same-origin');
    await person.open(`${wiki}/.login-relay/logout`, [...headers, ['Origin', wiki]], 'POST', '');
    await socket.closed;
    expect(socket.heard.endsWith(closing(1008, 'logout'))).to.equal(true);
    await eventually(async () => {
      const line = relay().lines.find(({ status }) => status === 101);
      expect(line).to.deep.include({ by: 'cookie', ended: 'logout', outcome: 'ok' });
    });
  });

  it('ends with its cookie, even if a reload has made the lifetime of cookies shorter', async () => {
    const socket = await open();
    await socket.say('a frame').hear('hello');
    await relay().reload(settings('{ lifetime: 10, renew: 5 }'));
    await socket.say('a frame').hear('hello', 2);
    relay().ahead = 600_000;
    await socket.closed;
    expect(socket.heard.endsWith(closing(1008, 'token_end'))).to.equal(true);
  });

  it('of a browser that has disconnected leaves nothing behind', async () => {
    const socket = await open();
    const gone = once(socket.socket, 'close');
    socket.close();
    await gone;
    await eventually(async () => {
      expect(relay().lines.find(({ status }) => status === 101)).to.include({ ended: 'client' });
    });
  });
});
