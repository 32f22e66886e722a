import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import { request } from '../harness/client/request.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { ada, board, type DoorBrowser, doorRelay, fetching, ownForm, settings, wiki } from './support/door-relay.ts';

type Headers = [name: string, value: string][];

const doorCookie = '__Host-Http-lr_door';

describe('attacks that doors for browsers have met elsewhere', () => {
  const relay = doorRelay();
  let person: DoorBrowser;
  beforeEach(async () => {
    await relay().restart(settings);
    person = relay().person();
  });

  const cookiesOf = (one: DoorBrowser): Headers => [['Cookie', one.jar.headerFor(new URL(wiki))]];

  /** The address of the callback of a login that has begun and that the provider has granted. */
  async function callbackOf(one: DoorBrowser): Promise<string> {
    const start = await one.open(`${wiki}/`);
    const asked = new URL((await one.open(start.headers['location'] ?? '')).headers['location'] ?? '');
    const state = asked.searchParams.get('state') ?? '';
    const code = relay().provider.authorize(asked);
    const answer = await one.open(`${asked.searchParams.get('redirect_uri')}?${new URLSearchParams({ code, state })}`);
    return answer.headers['location'] ?? '';
  }

  it('CVE-2017-1000069: a callback of another browser is refused, and its code is spent', async () => {
    const attacker = relay().person();
    const callback = await callbackOf(attacker);
    for (const isLoggedIn of [false, true]) {
      if (isLoggedIn) await person.visit(`${wiki}/`);
      const before = person.cookies(wiki).get(doorCookie);
      const answer = await person.open(callback);
      expect(answer.status).to.equal(400);
      expect(person.cookies(wiki).get(doorCookie)).to.equal(before);
    }
    // By now, it is also refused in the browser of the login.
    expect((await attacker.open(callback)).status).to.equal(400);
    expect(attacker.cookies(wiki).has(doorCookie)).to.equal(false);
  });

  describe('a callback of another browser that a page makes fail before its code is read', () => {
    const limited = { ...settings, relay: `rate-limit: 6\n${settings.relay}` };
    for (const [what, headers, status] of [
      ['by a frame', navigationWith('Sec-Fetch-Dest', 'iframe'), 400],
      ['by an object', navigationWith('Sec-Fetch-Dest', 'object'), 400],
      ['by a prefetch', navigationWith('Sec-Purpose', 'prefetch;prerender'), 503],
      ['by a hundred parameters', navigation, 400],
      ['by the rate limit', navigation, 429],
    ] as const) {
      it(`${what}, and the code is spent nevertheless`, async () => {
        await relay().restart(limited);
        const attacker = relay().person();
        const callback = (await callbackOf(attacker)) + (what.includes('hundred') ? '&x'.repeat(100) : '');
        const count = what.includes('limit') ? 6 : 0;
        for (let request = 0; request < count; request += 1) await person.open(`${wiki}/.login-relay/callback?state=x`);
        expect((await person.open(callback, [...headers])).status).to.equal(status);
        // Without the limit, because counters in a shared memory outlive a reload.
        await relay().reload(settings);
        const later = await attacker.open(callback.replace(/(&x)+$/, ''));
        expect([later.status, `${later.body}`]).to.satisfy(
          ([code, page]: [number, string]) => code === 400 && page.includes('Login already finished'),
        );
        expect(attacker.cookies(wiki).has(doorCookie)).to.equal(false);
      });
    }

    it('at one of several relays that share a memory, and the code is spent at all of them', async () => {
      const memory = await MemoryServerHere.start();
      memory.now = () => Date.now() + relay().ahead;
      await relay().restart({ ...settings, relay: `shared-memory: ${memory.address}\n${settings.relay}`, replicas: 2 });
      relay().at = 0;
      const attacker = relay().person();
      const callback = await callbackOf(attacker);
      expect((await person.open(callback, navigationWith('Sec-Fetch-Dest', 'iframe'))).status).to.equal(400);
      relay().at = 1;
      expect((await attacker.open(callback)).status).to.equal(400);
      expect(attacker.cookies(wiki).has(doorCookie)).to.equal(false);
      relay().at = undefined;
      await relay().restart(settings);
      await memory.stop();
    });

    it('and a browser that prefetches the callback of its own login is logged in by the navigation', async () => {
      const callback = await callbackOf(person);
      for (const headers of [
        navigationWith('Sec-Purpose', 'prefetch'),
        navigationWith('Sec-Purpose', 'prefetch;prerender'),
        navigationWith('Sec-Fetch-Dest', 'iframe'),
      ]) {
        expect((await person.open(callback, headers)).status).to.be.oneOf([400, 503]);
        expect(person.cookies(wiki).has(doorCookie)).to.equal(false);
      }
      expect((await person.visit(callback)).text).to.include('42 at / with');
    });
  });

  const hostile = [
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '/\\/evil.example',
    '/%09/evil.example',
    '/%5cevil.example',
    '/.evil.example',
    '/@evil.example',
    '/%0d%0aLocation:%20https://evil.example',
    '/https://evil.example',
    '/x?rd=https://evil.example&redirect=//evil.example&state=x',
    '/x?#@evil.example',
    '/\u00e9\u00ff',
    '/%ff%fe',
    `/${'p'.repeat(8000)}`,
    `/x?${'q'.repeat(8000)}`,
  ];
  for (const target of hostile) {
    it(`CVE-2020-5233, CVE-2020-11053, CVE-2020-4037, CVE-2021-21291, GHSA-36f2, CVE-2026-82467: ${target.slice(0, 40)} leads nowhere else`, async () => {
      const asked: Headers = [...navigation, ['X-Forwarded-Method', 'GET'], ['X-Forwarded-Uri', target]];
      const start = await relay().send({ path: '/auth/check/wiki', headers: asked });
      expect(start.status).to.equal(302);
      person.jar.keep(new URL(wiki), start);
      // The login follows as in `visit`, up to the second step of the callback.
      const provider = relay().provider;
      const first = new URL((await person.open(start.headers['location'] ?? '')).headers['location'] ?? '');
      const state = first.searchParams.get('state') ?? '';
      const code = provider.authorize(first);
      const granted = await person.open(
        `${first.searchParams.get('redirect_uri')}?${new URLSearchParams({ code, state })}`,
      );
      const second = await person.open(granted.headers['location'] ?? '');
      const last = await person.open(second.headers['location'] ?? '');
      const location = last.headers['location'] ?? '';
      expect(location.startsWith(`${wiki}/`), location).to.equal(true);
      const url = new URL(location);
      expect([url.origin, url.username]).to.deep.equal([wiki, '']);
      expect(location).to.match(/^[\x21-\x7e]{1,1030}$/);
      expect(last.headers).to.not.have.property('x');
    });
  }

  it('no login starts at an address of the relay', async () => {
    const start = await relay().check(`${wiki}/.login-relay/logout`, navigation);
    expect([start.status, start.headers['location']]).to.deep.equal([401, undefined]);
  });

  for (const own of [
    '/x/../.login-relay/logout',
    '/%2e/.login-relay/logout',
    '/%2elogin-relay/logout',
    '/.login-relay',
  ]) {
    it(`no login ends at an address of the relay: ${own}`, async () => {
      const asked: Headers = [...navigation, ['X-Forwarded-Method', 'GET'], ['X-Forwarded-Uri', own]];
      const start = await relay().send({ path: '/auth/check/wiki', headers: asked });
      person.jar.keep(new URL(wiki), start);
      expect((await person.visit(start.headers['location'] ?? '')).url.href).to.equal(`${wiki}/`);
    });
  }

  it('CVE-2020-5233 at logout: no parameter decides where the browser goes', async () => {
    await person.visit(`${wiki}/`);
    const target = `${wiki}/.login-relay/logout?rd=https://evil.example&redirect_uri=//evil.example&url=x`;
    const headers = navigationWith('Sec-Fetch-Site', 'same-origin');
    const answer = await person.open(target, headers, 'POST', 'rd=https://evil.example');
    expect(answer.headers['location']).to.equal(`${wiki}/.login-relay/logout`);
  });

  it('CVE-2021-21411, GHSA-r27r, CVE-2025-54576, CVE-2026-41059, CVE-2026-34457: no path, query or user agent gets past the door', async () => {
    for (const target of [
      '/healthz',
      '/ping',
      '/.well-known/acme-challenge/x',
      '/static/x.js',
      '/x?/.login-relay/user',
      '/api/x#/public',
    ]) {
      for (const agent of ['kube-probe/1.30', 'GoogleHC/1.0', 'ELB-HealthChecker/2.0', '']) {
        const asked: Headers = [
          ['X-Forwarded-Method', 'GET'],
          ['X-Forwarded-Uri', target],
          ['User-Agent', agent],
        ];
        const answer = await relay().send({ path: '/auth/check/wiki', headers: asked });
        expect(answer.status, `${target} ${agent}`).to.equal(401);
      }
    }
  });

  it('CVE-2026-40575: X-Forwarded-Uri, -Host, -Proto and -For do not decide whether a request passes', async () => {
    await person.visit(`${wiki}/`);
    const good: Headers = [...fetching, ...cookiesOf(person)];
    const made: Headers = [
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Forwarded-Proto', 'http'],
      ['X-Forwarded-For', '127.0.0.1'],
      ['X-Original-URL', '/.login-relay/user'],
      ['X-Rewrite-URL', '/healthz'],
      ['Forwarded', 'host=evil.example;proto=http'],
    ];
    for (const path of ['/', '/healthz', '/.login-relay/user', '//x', '/%00']) {
      const asked: Headers = [
        ['X-Forwarded-Method', 'GET'],
        ['X-Forwarded-Uri', path],
      ];
      const without = await relay().send({ path: '/auth/check/wiki', headers: [...fetching, ...asked, ...made] });
      const withCookie = await relay().send({ path: '/auth/check/wiki', headers: [...good, ...asked, ...made] });
      expect([without.status, withCookie.status], path).to.deep.equal([401, 204]);
    }
    const start = await relay().check(`${wiki}/`, [...navigation, ...made]);
    expect(start.headers['location']).to.match(/^https:\/\/relay\.example\//);
  });

  it('CVE-2025-64484, GO-2026-5346, CVE-2026-30851, CVE-2026-6338: each request has every identity header, with the value of the relay', async () => {
    relay().provider.knows(json({ sub: '42' }));
    await person.visit(`${wiki}/`);
    const claimed: Headers = [
      ['X-Forwarded-User', 'root'],
      ['X-Forwarded-Email', 'root@example.com'],
      ['X-Forwarded-Groups', 'admins'],
      ['X_Forwarded_User', 'root'],
      ['Connection', 'X-Forwarded-User, Cookie, X-Forwarded-Email'],
    ];
    const answer = await relay().check(`${wiki}/`, [...fetching, ...claimed, ...cookiesOf(person)]);
    expect(answer.status).to.equal(204);
    const { headers } = answer;
    const names = [
      'x-forwarded-user',
      'x-forwarded-preferred-username',
      'x-forwarded-email',
      'x-forwarded-groups',
      'cookie',
    ];
    expect(names.map((name) => headers[name])).to.deep.equal(['42', '', '', '', '']);
    expect(JSON.stringify(answer.rawHeaders)).not.to.include('root');
  });

  it('GHSA-xg2q, GHSA-3q28: a request with missing headers is refused, and a code of another client opens nothing', async () => {
    await person.visit(`${wiki}/`);
    const answer = await relay().send({ path: '/auth/check/wiki', headers: [...fetching, ...cookiesOf(person)] });
    expect(answer.status).to.equal(400);
    const other = relay().person();
    const callback = new URL(await callbackOf(other));
    const { location, start } = await relay().logIn({
      client_id: 'app',
      redirect_uri: 'https://app.example/',
      resource: `${wiki}/`,
    });
    const ofApp = location.searchParams.get('code') ?? '';
    callback.searchParams.set('code', ofApp);
    expect((await other.open(callback.href)).status).to.equal(400);
    // It is still valid in the right place.
    expect((await relay().redeem(start, ofApp)).status).to.equal(200);
  });

  it('the code of a door is worth nothing at the token endpoint, whatever client is named', async () => {
    const code = new URL(await callbackOf(person)).searchParams.get('code') ?? '';
    for (const client_id of ['app', 'door wiki', 'wiki', '']) {
      const form = { grant_type: 'authorization_code', client_id, code, code_verifier: 'v'.repeat(43) };
      const answer = await relay().post('token', { ...form, redirect_uri: `${wiki}/.login-relay/callback` });
      expect(answer.status, client_id).to.be.within(400, 401);
      expect(jsonOf(answer)).not.to.have.property('access_token');
    }
    const named = {
      response_type: 'code',
      client_id: 'door wiki',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    };
    const start = await relay().open(relay().browser(), {
      ...named,
      redirect_uri: `${wiki}/.login-relay/callback`,
      resource: `${wiki}/`,
    });
    expect(start.status).to.equal(400);
  });

  it('a window that a script opens for a login is out of its sight from the start', async () => {
    const start = await person.open(`${wiki}/`);
    const { status, headers } = await person.open(start.headers['location'] ?? '');
    expect(status).to.equal(307);
    expect(headers['cross-origin-opener-policy']).to.equal('same-origin');
  });

  it('no page at the host of the application has the ticket of a login, with which a script could log the person in as the attacker', async () => {
    const link = (page: { readonly body: Buffer }) =>
      /href="(https:[^"]+)"/.exec(`${page.body}`)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const pages = [await person.open(`${wiki}/`, ownForm)];
    relay().provider.knows(json({ ...ada, sub: '7' }));
    pages.push(await person.visit(`${wiki}/`));
    relay().provider.knows(json(ada));
    const forgetful = relay().person();
    await forgetful.visit(`${wiki}/`);
    forgetful.cookies(wiki).delete(doorCookie);
    pages.push(await forgetful.open(`${wiki}/`));
    expect(pages.map(({ status }) => status)).to.deep.equal([401, 403, 400]);
    for (const page of pages) {
      expect(link(page)).to.match(/^https:\/\/wiki\.example\.com\/\.login-relay\/login\?state=[\w-]{43}(&|$)/);
      expect(`${page.body}`).not.to.include('lr1_');
    }
    // The link works in a window of this browser. In another browser, it starts nothing.
    const [first] = pages;
    const address = first === undefined ? '' : link(first);
    expect((await person.open(address, fetching)).status).to.equal(400);
    expect((await person.open(address, navigationWith('Sec-Fetch-Dest', 'iframe'))).status).to.equal(400);
    expect((await forgetful.open(address)).headers['location']).to.equal(`${wiki}/`);
    expect((await person.open(address)).headers['location']).to.include('/auth/provider/door/wiki?state=lr1_');
  });

  it('a start counts only with a state that the relay has sealed for this door, in time', async () => {
    const start = new URL((await person.open(`${wiki}/`)).headers['location'] ?? '');
    const ticket = start.searchParams.get('state') ?? '';
    const open = async (state: string, resource = 'wiki') =>
      (await person.open(`${relay().address}/auth/provider/door/${resource}?${new URLSearchParams({ state })}`)).status;
    for (const forged of ['', 'x', `${ticket}x`, ticket.slice(0, -2), ticket.replace(/.$/, 'A').replace(/A$/, 'B')]) {
      expect(await open(forged), forged).to.equal(400);
    }
    expect(await open(ticket, 'board')).to.equal(400);
    expect(await open(ticket)).to.equal(307);
    relay().ahead = 601_000;
    expect(await open(ticket)).to.equal(400);
  });

  it('CVE-2021-32637: raw bytes and malformed addresses are denied without a cookie', async () => {
    for (const target of ['/%', '/%zz', '/\u0080\u00ff', '/ x', '*', '', 'x', 'https://wiki.example.com/', '/x\ty']) {
      const asked: Headers = [
        ['X-Forwarded-Method', 'GET'],
        ['X-Forwarded-Uri', target],
      ];
      const answer = await relay().send({ path: '/auth/check/wiki', headers: [...fetching, ...asked] });
      expect(answer.status, JSON.stringify(target)).to.equal(401);
    }
  });

  it('CVE-2026-57209: a hostile Host reaches no door', async () => {
    for (const host of [
      'evil.example',
      'wiki.example.com.evil.example',
      'wiki.example.com@evil.example',
      'WIKI.example.com:8443',
    ]) {
      const answer = await request(relay().port, { path: '/.login-relay/user', authority: host });
      expect(answer.status, host).to.equal(host.startsWith('WIKI') ? 401 : host.includes('@') ? 400 : 404);
    }
  });

  it('CVE-2024-39315: the page about the user shows no token', async () => {
    await person.visit(`${wiki}/`);
    const answer = await person.open(`${wiki}/.login-relay/user`, fetching);
    expect(Object.keys(jsonOf(answer))).to.deep.equal(['sub', 'preferred_username', 'email', 'groups']);
    expect(`${answer.body}`).not.to.match(/lr1_|canary|c4n4ry/);
  });

  it('CVE-2026-34454: logging out clears the cookie first, even a bad cookie', async () => {
    for (const value of ['x', 'lr1_x', '']) {
      const one = relay().person();
      one.cookies(wiki).set(doorCookie, value);
      const headers = navigationWith('Sec-Fetch-Site', 'same-origin');
      const answer = await one.open(`${wiki}/.login-relay/logout`, headers, 'POST', '');
      expect(answer.status).to.equal(303);
      expect(one.cookies(wiki).has(doorCookie)).to.equal(false);
    }
  });

  it('GHSA-c5c4-8r6x-56w3: an address with two @ opens nothing', async () => {
    const staff = settings.relay?.replace("{ users: ['42', '43'] }", '{ email-domains: [example.com] }') ?? '';
    await relay().restart({ ...settings, relay: staff });
    relay().provider.knows(json({ ...ada, email: 'ada@evil.example@example.com' }));
    expect((await person.visit(`${wiki}/`)).status).to.equal(403);
    relay().provider.knows(json(ada));
    expect((await relay().person().visit(`${wiki}/`)).status).to.equal(200);
  });

  it('a page of another site makes the cookie open nothing, but a link to a page', async () => {
    await person.visit(`${wiki}/`);
    const from = (site: string, mode: string, dest: string, more: Headers = []): Headers => [
      ['Sec-Fetch-Site', site],
      ['Sec-Fetch-Mode', mode],
      ['Sec-Fetch-Dest', dest],
      ...more,
    ];
    const socket: Headers = [
      ['Upgrade', 'websocket'],
      ['Connection', 'Upgrade'],
    ];
    const evil: Headers = [['Origin', 'https://evil.example.com']];
    const own: Headers = [['Origin', wiki]];
    for (const [method, headers, expected] of [
      ['GET', from('cross-site', 'navigate', 'document'), 204],
      ['HEAD', from('same-site', 'navigate', 'document'), 204],
      ['GET', from('none', 'navigate', 'document'), 204],
      ['GET', from('same-origin', 'navigate', 'iframe'), 204],
      ['POST', from('same-origin', 'navigate', 'document', own), 204],
      ['POST', from('same-origin', 'navigate', 'document', [['Origin', 'null']]), 204],
      ['GET', from('same-origin', 'websocket', 'empty', [...socket, ...own]), 204],
      ['GET', from('same-origin', 'no-cors', 'image'), 204],
      ['POST', from('same-site', 'navigate', 'document', evil), 403],
      ['POST', from('cross-site', 'navigate', 'document', [['Origin', 'null']]), 403],
      ['POST', from('none', 'navigate', 'document', [['Origin', 'null']]), 403],
      ['GET', from('same-site', 'navigate', 'iframe'), 403],
      ['GET', from('cross-site', 'navigate', 'object'), 403],
      ['GET', from('cross-site', 'no-cors', 'image'), 403],
      ['GET', from('same-site', 'cors', 'empty', evil), 403],
      ['GET', from('same-site', 'websocket', 'empty', [...socket, ...evil]), 403],
      ['GET', from('same-origin', 'websocket', 'empty', socket), 403],
      ['GET', from('same-origin', 'websocket', 'empty'), 403],
      ['GET', from('same-origin', 'websocket', 'empty', [...socket, ['Origin', 'null']]), 403],
      ['GET', from('none', 'navigate', 'document', socket), 403],
      ['GET', from('same-origin', 'cors', 'empty', evil), 403],
      ['OPTIONS', from('cross-site', 'cors', 'empty', evil), 403],
      ['GET', from('same-origin, cross-site', 'cors', 'empty'), 403],
      // Old browsers, and plain http.
      ['GET', [], 204],
      ['GET', [...socket, ...own], 204],
      ['POST', own, 204],
      ['GET', [...socket, ...evil], 403],
      ['GET', socket, 403],
      ['GET', evil, 403],
      ['POST', evil, 403],
      ['POST', [], 403],
      ['DELETE', [['Origin', 'null']], 403],
      ['PROPFIND', [], 403],
    ] as [string, Headers, number][]) {
      const answer = await relay().check(`${wiki}/x`, [...headers, ...cookiesOf(person)], { method });
      expect(answer.status, `${method} ${JSON.stringify(headers)}`).to.equal(expected);
      // A program with the person's token may send requests from anywhere.
      if (expected !== 403) continue;
      const bad: Headers = [['Authorization', 'Bearer x']];
      expect((await relay().check(`${wiki}/x`, [...headers, ...bad], { method })).status).to.equal(401);
    }
  });

  it('log, answers and metrics contain no secret', async () => {
    relay().lines.length = 0;
    await person.visit(`${wiki}/secret-path?token=secret-query`);
    const log = JSON.stringify(relay().lines);
    const secrets = [
      ...person.cookies(wiki).values(),
      ...person.trail.flatMap((address) => [...new URL(address).searchParams.values()]),
    ];
    for (const secret of [...secrets, 'secret-path', 'secret-query', 'ada@example.com']) {
      expect(log.includes(secret), secret).to.equal(false);
    }
    // Codes and states are random or sealed, so they may contain these letters by chance.
    const readable = person.trail.map((address) =>
      address.replaceAll(/(?<=[?&](?:code|state|code_challenge)=)[^&]*/g, ''),
    );
    expect(readable.filter((address) => address.includes('ada'))).to.deep.equal([]);
  });

  it('opens to no board with the cookies of the wiki, doubled, shortened, or joined', async () => {
    await person.visit(`${wiki}/`);
    await person.visit(`${board}/`);
    const ofWiki = person.cookies(wiki).get(doorCookie) ?? '';
    const ofBoard = person.cookies(board).get(doorCookie) ?? '';
    const ask = async (header: string, url = board) =>
      (await relay().check(`${url}/`, [...fetching, ['Cookie', header]])).status;
    expect(await ask(`${doorCookie}=${ofBoard}`)).to.equal(204);
    for (const header of [
      `${doorCookie}=${ofWiki}`,
      `${doorCookie}=${ofBoard}; ${doorCookie}=${ofBoard}`,
      `${doorCookie}=${ofBoard}; ${doorCookie}=${ofWiki}`,
      `${doorCookie}=${ofBoard.slice(0, -1)}`,
      `${doorCookie}=${ofBoard}A`,
      `${doorCookie}="${ofBoard}"`,
      `${doorCookie}.1=${ofBoard}`,
      `${doorCookie}=${ofBoard}; ${doorCookie}.1=x`,
      `x="; ${doorCookie}=${ofWiki}`,
      `\u00a0${doorCookie}=${ofBoard}`,
      `lr_door=${ofBoard}`,
      `__host-http-lr_door=${ofBoard}`,
    ]) {
      expect(await ask(header), header.slice(0, 60)).to.equal(401);
    }
  });
});
