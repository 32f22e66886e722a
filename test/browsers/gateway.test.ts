import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { paths } from '../../src/paths.ts';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import { request } from '../harness/client/request.ts';
import { serve } from '../harness/provider/serve.ts';
import type { Settings } from '../harness/relay/relay-of-file.ts';
import { eventually } from '../harness/system/eventually.ts';
import { type DoorBrowser, doorRelay, fetching, wiki } from './support/door-relay.ts';

type Headers = [name: string, value: string][];

const secret = 'a secret of thirty-two characters or more';
const doorCookie = '__Host-Http-lr_door';

/** The requests that the application got. */
interface Got {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('an application behind the relay, in a browser', () => {
  let port = 0;
  let close: () => Promise<void>;
  let got: Got[] = [];
  const answers = (response: ServerResponse) => void response.end('hello');
  let answer: (response: ServerResponse, request: IncomingMessage) => void = answers;
  const settings = (browser = 'true', path = '/', url = `${wiki}/`): Settings => ({
    relay: `resources:\n  wiki: { url: '${url}', upstream: 'http://127.0.0.1:${port}${path}', browser: ${browser} }\n`,
    frontEnds: '  ci: { kind: machine, secret-file: ./ci, resources: [wiki] }\n',
    files: { './ci': secret },
  });

  before(async () => {
    ({ port, close } = await serve(async (incoming, response) => {
      const { method, url, headers } = incoming;
      got.push({ method, url, headers, body: await text(incoming) });
      answer(response, incoming);
    }));
  });
  after(async () => await close());

  const relay = doorRelay();
  let person: DoorBrowser;
  beforeEach(async () => {
    answer = answers;
    await relay().restart(settings());
    person = relay().person(relay().port);
    await person.visit(`${wiki}/`);
    expect(person.logins).to.equal(1);
    got = [];
  });
  const own = navigationWith('Sec-Fetch-Site', 'same-origin');
  const onlyGot = () => {
    const [one, ...others] = got;
    if (one === undefined || others.length > 0) throw new Error(`${got.length} requests`);
    return one;
  };

  it('is reached after a login at all its addresses, even at addresses that the relay has at other hosts', async () => {
    for (const target of ['/', ...Object.values(paths), '/auth/provider', '/a%2Fb//c?d=%2f', '/x;y=1/%20']) {
      got = [];
      expect((await person.open(wiki + target)).status, target).to.equal(200);
      expect(onlyGot().url).to.equal(target);
    }
    expect((await person.open(`${wiki}/.login-relay/user`, fetching)).status).to.equal(200);
    expect((await person.open(`${wiki}/.login-relay/x`, fetching)).status).to.equal(404);
  });

  it('gets a browser back that opened a strange address, to the letter or in its spelling, and nowhere else', async () => {
    const long = `/${'p'.repeat(8000)}`;
    for (const [target, back] of [
      ['//evil.example', '//evil.example'],
      ['/\\evil.example', '//evil.example'],
      ['/%ff%fe', '/%ff%fe'],
      ['/%0d%0aSet-Cookie:%20x=y', '/%0d%0aSet-Cookie:%20x=y'],
      [long, '/'],
      [`/notes?${long}`, '/notes'],
      ['/@evil.example', '/@evil.example'],
      ['/.evil.example', '/.evil.example'],
    ] as const) {
      const one = relay().person(relay().port);
      const sending = { path: target, authority: new URL(wiki).host, headers: navigation };
      const start = await request(relay().port, sending);
      expect(start.status, target).to.equal(302);
      one.jar.keep(new URL(wiki), start);
      const page = await one.visit(start.headers['location'] ?? '');
      expect([page.url.href, page.status], target).to.deep.equal([wiki + back, 200]);
    }
    // No browser sends these.
    for (const path of ['/x#y', '/\u00ff\u00fe']) {
      const sending = { path, authority: new URL(wiki).host, headers: navigation };
      expect((await request(relay().port, sending)).status, path).to.equal(400);
    }
    // A proxy may add the port.
    const ofPort = { path: '/x', authority: `${new URL(wiki).host}:443`, headers: navigation };
    expect((await request(relay().port, ofPort)).headers['location']).to.include('/door/wiki?');
  });

  it('gets what the browser says, who it is, and no cookie of the relay', async () => {
    person.cookies(wiki).set('theme', 'dark');
    person.cookies(wiki).set('lr_session_app', 'x');
    const headers: Headers = [
      ...own,
      ['Origin', wiki],
      ['Referer', `${wiki}/x`],
      ['Authorization', 'Basic YTpi'],
      ['X-Forwarded-User', 'root'],
      ['X_Forwarded_User', 'root'],
      ['X-Forwarded-For', '192.0.2.1'],
      ['X-HTTP-Method-Override', 'DELETE'],
      ['Connection', 'X-Forwarded-User, Cookie'],
      ['Upgrade', 'h2c'],
    ];
    expect((await person.open(`${wiki}/form`, headers, 'POST', 'a=b')).status).to.equal(200);
    const { method, headers: seen, body } = onlyGot();
    expect([method, body]).to.deep.equal(['POST', 'a=b']);
    expect(seen).to.deep.include({
      host: 'wiki.example.com',
      origin: wiki,
      referer: `${wiki}/x`,
      authorization: 'Basic YTpi',
      'sec-fetch-site': 'same-origin',
      'x-forwarded-user': '42',
      'x-forwarded-host': 'wiki.example.com',
      'x-forwarded-proto': 'https',
      'x-http-method-override': 'DELETE',
    });
    expect(JSON.stringify(seen)).not.to.match(/root|lr_|192\.0\.2\.1|h2c/);
    got = [];
    await person.open(`${wiki}/`, own);
    expect(onlyGot().headers.cookie).to.equal('theme=dark');
  });

  it('decides what its pages may do, and its answers are cached for one person only', async () => {
    answer = (response) => {
      response.setHeader('Set-Cookie', [
        'a=1; Path=/',
        `${doorCookie}=stolen; Path=/; Secure`,
        'lr_door_login_x=1',
        // Without a name, a browser may send the value alone, which then is a name with a value.
        '=lr_door_login_x=2',
        ` = ${doorCookie}=stolen; Path=/; Secure`,
        'b=2',
      ]);
      response.setHeader('Content-Security-Policy', "default-src 'self'");
      response.setHeader('Access-Control-Allow-Origin', 'https://partner.example');
      response.setHeader('Cache-Control', 'public, max-age=60');
      response.setHeader('X-Frame-Options', 'DENY');
      response.setHeader('Alt-Svc', 'h3=":443"');
      response.setHeader('X-Accel-Redirect', '/secret');
      response.end('x');
    };
    const { headers } = await person.open(`${wiki}/`, own);
    expect(headers['set-cookie']).to.deep.equal(['a=1; Path=/', 'b=2']);
    expect(headers).to.deep.include({
      'content-security-policy': "default-src 'self'",
      'access-control-allow-origin': 'https://partner.example',
      'cache-control': 'private, max-age=60',
      'x-frame-options': 'DENY',
    });
    for (const name of [
      'alt-svc',
      'x-accel-redirect',
      'referrer-policy',
      'x-content-type-options',
      'access-control-expose-headers',
      'content-type',
    ]) {
      expect(headers, name).not.to.have.property(name);
    }
    answer = answers;
    const plain = await person.open(`${wiki}/`, own);
    expect(plain.headers['cache-control']).to.equal('private');
    expect(plain.headers).not.to.have.property('content-security-policy');
    expect(plain.headers).not.to.have.property('access-control-allow-origin');
  });

  it('redirects anywhere, and a redirect to its own address leads to the resource', async () => {
    for (const [location, expected] of [
      [`http://127.0.0.1:${port}/x?y#z`, `${wiki}/x?y#z`],
      ['/login', `${wiki}/login`],
      ['next', `${wiki}/dir/next`],
      // An application behind a proxy may guess the scheme of its address.
      [wiki.replace('https:', 'http:'), `${wiki}/`],
      [`${wiki.replace('https:', 'http:')}:80/x?y#z`, `${wiki}/x?y#z`],
      [`https://127.0.0.1:${port}/x`, `${wiki}/x`],
      [`${wiki}/x`, `${wiki}/x`],
      ['https://elsewhere.example/x', 'https://elsewhere.example/x'],
      ['//elsewhere.example/x', '//elsewhere.example/x'],
    ] as const) {
      answer = (response) => void response.writeHead(302, { Location: location }).end();
      const { status, headers } = await person.open(`${wiki}/dir/page`, own);
      expect([status, headers['location']], location).to.deep.equal([302, expected]);
    }
  });

  it('has safe cookies, and redirects that stay at its host, however its url is spelt', async () => {
    for (const url of [wiki, wiki.toUpperCase(), `${wiki.replace('https', 'HTTPS')}:443/`]) {
      await relay().restart(settings('true', '/', url));
      const one = relay().person(relay().port);
      expect((await one.visit(`${wiki}/`)).status, url).to.equal(200);
      expect(one.set.filter((line) => !line.startsWith('__Host-Http-lr_') || !line.includes('; Secure'))).to.be.empty;
      for (const path of ['/login', '/.evil.example/', '/@evil.example/']) {
        answer = (response) => void response.writeHead(302, { Location: path }).end();
        expect((await one.open(`${wiki}/dir`, own)).headers['location'], url).to.equal(wiki + path);
      }
      answer = answers;
    }
  });

  it('may refuse by itself, and answer with any status', async () => {
    for (const status of [401, 403, 404, 418, 500, 503]) {
      answer = (response) => void response.writeHead(status, { 'WWW-Authenticate': 'Basic realm="app"' }).end();
      const refused = await person.open(`${wiki}/`, own);
      expect([refused.status, refused.headers['www-authenticate']]).to.deep.equal([status, 'Basic realm="app"']);
    }
    answer = (response) => void response.writeHead(304, { ETag: '"x"' }).end();
    const same = await person.open(`${wiki}/`, [...own, ['If-None-Match', '"x"']]);
    expect([same.status, same.headers['etag']]).to.deep.equal([304, '"x"']);
    answer = (response) => void response.writeHead(206, { 'Content-Range': 'bytes 0-0/5' }).end('h');
    expect((await person.open(`${wiki}/`, [...own, ['Range', 'bytes=0-0']])).headers['content-range']).to.equal(
      'bytes 0-0/5',
    );
    expect((await person.open(`${wiki}/`, own, 'HEAD')).status).to.equal(206);
  });

  it('sees nothing of a request that the door does not open to', async () => {
    const other = relay().person(relay().port);
    expect((await other.open(`${wiki}/x?y`)).status).to.equal(302);
    expect((await other.open(`${wiki}/x`, fetching)).status).to.equal(401);
    expect((await other.open(`${wiki}/x`, own, 'POST', 'a=b')).status).to.equal(401);
    const foreign: Headers = [
      ...fetching.filter(([name]) => name !== 'Sec-Fetch-Site'),
      ['Sec-Fetch-Site', 'same-site'],
    ];
    expect((await person.open(`${wiki}/x`, foreign, 'POST', 'a=b')).status).to.equal(403);
    // Headers with which a proxy describes a request are ignored here.
    const said: Headers = [...foreign, ['X-Forwarded-Method', 'GET'], ['X-Forwarded-Uri', '/.login-relay/user']];
    expect((await person.open(`${wiki}/x`, said, 'DELETE')).status).to.equal(403);
    for (const target of ['/%00\u00ff', '/x#y']) {
      const cookie: Headers = [['Cookie', person.jar.headerFor(new URL(wiki))]];
      const refused = await request(relay().port, {
        path: target,
        authority: 'wiki.example.com',
        headers: [...own, ...cookie],
      }).catch(() => undefined);
      expect(refused?.status ?? 400, target).to.equal(400);
    }
    const socket: Headers = [...fetching, ['Upgrade', 'websocket'], ['Connection', 'Upgrade']];
    expect((await person.open(`${wiki}/socket`, socket)).status).to.equal(403);
    // Without a key, the request would not be for a WebSocket.
    expect((await person.open(`${wiki}/socket`, [...socket, ['Origin', wiki]])).status).to.equal(426);
    expect(got).to.deep.equal([]);
  });

  it('serves requests with a token as it does without browsers', async () => {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'ci', client_secret: secret });
    const tokens = await request(relay().port, {
      method: 'POST',
      path: '/auth/provider/token',
      authority: new URL(relay().address).host,
      headers: [
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Content-Length', `${`${form}`.length}`],
      ],
      body: `${form}`,
    });
    const token = `${jsonOf(tokens)['access_token']}`;
    answer = (response) =>
      void response.writeHead(200, { 'Set-Cookie': 'a=1', 'Content-Type': 'text/html' }).end('<p>');
    const bearer: Headers = [
      ['Authorization', `Bearer ${token}`],
      ['Origin', 'https://any.example'],
      ['Cookie', 'a=1'],
    ];
    const { status, headers } = await request(relay().port, {
      path: '/x',
      authority: 'wiki.example.com',
      headers: bearer,
    });
    expect(status).to.equal(200);
    expect(headers).not.to.have.property('set-cookie');
    expect(headers['content-security-policy']).to.include('sandbox');
    expect(headers['access-control-allow-origin']).to.equal('*');
    const seen = onlyGot().headers;
    expect(seen).not.to.have.any.keys('cookie', 'origin', 'authorization');
    expect(seen['x-forwarded-user']).to.equal('machine:ci');
  });

  it('is a page if it does not answer', async () => {
    answer = (response) => void response.destroy();
    const page = await person.open(`${wiki}/`, own);
    expect(page.status).to.equal(502);
    expect(`${page.body}`).to.include('<h1>').and.not.include('Log in again');
    expect((await person.open(`${wiki}/`, fetching)).headers['content-type']).to.include('json');
  });

  it('is a page that speaks of no login if the relay does not pass a request on', async () => {
    const upload: Headers = [...own, ['Origin', wiki], ['Content-Length', `${65 * 1024 * 1024}`]];
    const tooLarge = await person.open(`${wiki}/`, upload, 'POST');
    expect(tooLarge.status).to.equal(413);
    expect(`${tooLarge.body}`).to.include('<h1>The upload is too large').and.not.include('Log in again');
    const refused = await person.open(`${wiki}/`, [...own, ['Origin', wiki]], 'TRACE');
    expect(refused.status).to.equal(405);
    expect(`${refused.body}`).to.include('<h1>The page cannot be shown').and.not.include('Log in again');
    expect(got).to.deep.equal([]);
  });

  it('streams events until the login ends by a logout, by the end of the cookie, or by a reload', async () => {
    const streamed = (response: ServerResponse) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
    };
    const events: Headers = [...fetching, ['Accept', 'text/event-stream']].filter(
      ([, value]) => value !== '*/*',
    ) as Headers;
    for (const [why, end] of [
      ['logout', () => person.open(`${wiki}/.login-relay/logout`, own, 'POST', '')],
      [
        'token_end',
        async () => {
          relay().ahead = 60 * 720_000;
        },
      ],
      ['reload', () => relay().reload(settings('{ lifetime: 60, renew: 5 }', '/other/'))],
    ] as const) {
      await relay().restart(settings());
      relay().ahead = 0;
      answer = answers;
      person = relay().person(relay().port);
      await person.visit(`${wiki}/`);
      relay().lines.length = 0;
      answer = streamed;
      const stream = await person.listen(`${wiki}/events`, events);
      await end();
      expect(`${(await stream.ended).body}`).to.equal('data: 1\n\n');
      await eventually(async () =>
        expect(relay().lines.some(({ ended, by }) => ended === why && by === 'cookie')).to.equal(true),
      );
    }
  });

  it('goes on streaming after a reload that does not concern it', async () => {
    let endStream = () => {};
    answer = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
      endStream = () => response.end('data: 2\n\n');
    };
    const { ended } = await person.listen(`${wiki}/events`, [...fetching.slice(1), ['Accept', 'text/event-stream']]);
    await relay().reload({ ...settings(), relay: `log-people: true\n${settings().relay}` });
    endStream();
    expect(`${(await ended).body}`).to.equal('data: 1\n\ndata: 2\n\n');
  });
});
