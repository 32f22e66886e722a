import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { ada, board, type DoorBrowser, doorRelay, fetching, ownForm, settings, wiki } from './support/door-relay.ts';

const minute = 60_000;
const doorCookie = '__Host-Http-lr_door';

/** Expects that a browser is at the page of the application, and not at a page of the relay. */
function expectPage({ status, text }: { readonly status: number; readonly text: string }, expected: string): void {
  expect(text).to.equal(expected);
  expect(status).to.equal(200);
}

describe('the login of a browser at a resource', () => {
  const relay = doorRelay();
  let person: DoorBrowser;
  beforeEach(async () => {
    await relay().restart(settings);
    person = relay().person();
  });

  it('leads back to the page, to the letter, and opens all of the host', async () => {
    expectPage(await person.visit(`${wiki}/notes/a%20b?c=d&e=%2f`), '42 at /notes/a%20b?c=d&e=%2f with ');
    expect(person.logins).to.equal(1);
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(200);
    expect(person.logins).to.equal(1);
  });

  it('sets a cookie that no script and no other host can read', async () => {
    await person.visit(`${wiki}/`);
    const callback = person.trail.findLast((address) => address.includes('/.login-relay/')) ?? '';
    expect(new URL(callback).pathname).to.equal('/.login-relay/callback');
    const again = relay().person();
    const [first] = setCookies(await again.open(`${wiki}/`));
    expect(first?.attributes).to.deep.equal(['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax', 'Secure']);
    expect([...person.cookies(wiki).keys()]).to.deep.equal([doorCookie, `${doorCookie}_login_finished`]);
  });

  it('opens no other resource, and a resource at another host asks the provider again', async () => {
    await person.visit(`${wiki}/`);
    for (const [name, value] of person.cookies(wiki)) person.cookies(board).set(name, value);
    expect((await person.open(`${board}/x`, fetching)).status).to.equal(401);
    person.cookies(board).clear();
    expectPage(await person.visit(`${board}/`), '42 at / with ');
    expect(person.logins).to.equal(2);
  });

  it('is over when the lifetime of the cookie is', async () => {
    await person.visit(`${board}/`);
    relay().ahead = 60 * minute - 1000;
    expect((await person.open(`${board}/x`, fetching)).status).to.equal(200);
    relay().ahead = 60 * minute;
    expect((await person.open(`${board}/x`, fetching)).status).to.equal(401);
  });

  it('passes the cookies of the application, and never a cookie of the relay', async () => {
    await person.visit(`${wiki}/`);
    person.cookies(wiki).set('theme', 'dark');
    person.cookies(wiki).set('lr_session_app', 'x');
    person.cookies(wiki).set('session', '"a lr_door=b"');
    const checked = await relay().check(`${wiki}/`, [...fetching, ['Cookie', person.jar.headerFor(new URL(wiki))]]);
    expect(checked.status).to.equal(204);
    expect(checked.headers['cookie']).to.equal('theme=dark; session="a lr_door=b"');
    expect(checked.headers['x-forwarded-email']).to.equal('ada@example.com');
    expect(checked.headers['set-cookie']).to.equal(undefined);
  });

  it('asks the provider for another account, if the person may not use the resource', async () => {
    relay().provider.knows(json({ ...ada, sub: '7', preferred_username: 'mallory' }));
    const refused = await person.visit(`${wiki}/notes`);
    expect(refused.status).to.equal(403);
    expect(refused.url.pathname).to.equal('/.login-relay/callback');
    expect(refused.text).to.include('You are logged in as').and.include('mallory');
    expect(person.cookies(wiki).has(doorCookie)).to.equal(false);
    const [, link = ''] = /<a href="([^"]+)">Log in with another account/.exec(refused.text) ?? [];
    expect(link).to.include('prompt=select_account');
    relay().provider.knows(json(ada));
    expectPage(await person.visit(link.replaceAll('&amp;', '&')), '42 at / with ');
    const asked = person.trail.filter((address) => address.includes('/door/wiki')).at(-1) ?? '';
    expect(new URL(asked).searchParams.get('prompt')).to.equal('select_account');
  });

  it('names the person only to pages of the resource', async () => {
    expect((await person.open(`${wiki}/.login-relay/user`, fetching)).status).to.equal(401);
    await person.visit(`${wiki}/`);
    const { sub, preferred_username, email, groups } = ada;
    const answer = await person.open(`${wiki}/.login-relay/user`, fetching);
    expect(jsonOf(answer)).to.deep.equal({ sub, preferred_username, email, groups });
    const foreign = navigationWith('Sec-Fetch-Mode', 'cors');
    expect((await person.open(`${wiki}/.login-relay/user`, foreign)).status).to.equal(403);
  });

  it('shows a page to a person without a login who opens the address for programs', async () => {
    const page = await person.open(`${wiki}/.login-relay/user`);
    expect(page.status).to.equal(401);
    expect(page.headers['www-authenticate']).to.include(`${wiki}/.well-known/oauth-protected-resource/`);
    expect(`${page.body}`).to.include('You are logged out').and.include('<a href="/">Log in again</a>');
    expect(`${page.body}`).not.to.include('access token');
    await person.visit(`${wiki}/`);
    expect(jsonOf(await person.open(`${wiki}/.login-relay/user`))).to.include({ sub: ada.sub });
  });

  it('has no other addresses below /.login-relay/, and no such addresses at another host', async () => {
    await person.visit(`${wiki}/`);
    for (const path of ['', 'choose/', 'callback/', 'logout/x', 'user%2f', '%63allback']) {
      expect((await person.open(`${wiki}/.login-relay/${path}`)).status, path).to.equal(404);
    }
    const login = new URL(relay().address).origin;
    expect((await person.open(`${login}/.login-relay/user`)).status).to.equal(404);
  });

  it('ends in each of two tabs, even if the clocks of two relays differ', async () => {
    relay().ahead = 8_000;
    const one = await person.open(`${wiki}/one`);
    const other = await person.open(`${wiki}/other`);
    relay().ahead = 0;
    expectPage(await person.visit(one.headers['location'] ?? ''), '42 at /one with ');
    expectPage(await person.visit(other.headers['location'] ?? ''), '42 at /other with ');
  });

  it('opens to the cookie without a call to the provider', async () => {
    const { calls } = relay().provider;
    await person.visit(`${wiki}/`);
    expect(calls).not.to.deep.equal([]);
    calls.length = 0;
    const cookie: [string, string] = ['Cookie', person.jar.headerFor(new URL(wiki))];
    for (const headers of [fetching, navigation]) {
      expect((await relay().check(`${wiki}/`, [...headers, cookie])).status).to.equal(204);
    }
    expect(calls).to.deep.equal([]);
  });

  it('also opens to a token, which takes precedence over the cookie', async () => {
    await person.visit(`${wiki}/`);
    const cookie: [string, string] = ['Cookie', person.jar.headerFor(new URL(wiki))];
    const { start, code } = await relay().logIn({
      client_id: 'app',
      redirect_uri: 'https://app.example/',
      resource: `${wiki}/`,
    });
    const token = `${jsonOf(await relay().redeem(start, code))['access_token']}`;
    for (const headers of [fetching, navigation]) {
      const bearer: [string, string] = ['Authorization', `Bearer ${token}`];
      const good = await relay().check(`${wiki}/`, [...headers, bearer, cookie]);
      expect([good.status, good.headers['cookie']]).to.deep.equal([204, '']);
      const bad = await relay().check(`${wiki}/`, [...headers, ['Authorization', 'Bearer x'], cookie]);
      expect(bad.status).to.equal(401);
      expect(bad.headers['www-authenticate']).to.include('error="invalid_token"');
      // Credentials of the application itself.
      const basic = await relay().check(`${wiki}/`, [...headers, ['Authorization', 'Basic YTpi'], cookie]);
      expect(basic.status).to.equal(204);
    }
  });
});

describe('the answer of a resource to a request without a valid cookie', () => {
  const relay = doorRelay();

  it('is a login only for a page in a window', async () => {
    const withOther = (name: string, value: string) => navigationWith(name, value);
    const accepting = (value: string) => [['Accept', value] as [string, string]];
    for (const [headers, method, expected] of [
      [navigation, 'GET', 302],
      [accepting('text/html,*/*;q=0.8'), 'GET', 302],
      [withOther('Sec-Fetch-Dest', 'iframe'), 'GET', 401],
      [withOther('Sec-Fetch-Mode', 'cors'), 'GET', 401],
      [withOther('Sec-Purpose', 'prefetch'), 'GET', 401],
      [fetching, 'GET', 401],
      [fetching, 'POST', 401],
      [ownForm, 'POST', 401],
      [navigation, 'HEAD', 401],
      [accepting('application/json, text/event-stream'), 'POST', 401],
      [accepting('*/*'), 'GET', 401],
      [[], 'GET', 401],
    ] as const) {
      const what = `${method} ${JSON.stringify(headers)}`;
      const answer = await relay().check(`${wiki}/notes`, [...headers], { method });
      expect(answer.status, what).to.equal(expected);
      expect(answer.headers['cache-control'], what).to.include('no-store');
      if (expected === 401) {
        expect(answer.headers['www-authenticate'], what).to.include(`${wiki}/.well-known/oauth-protected-resource/`);
        expect(answer.headers['set-cookie'], what).to.equal(undefined);
      }
    }
  });

  it('is a page that leads to the login if a page of the application led there, because its form-action would block a redirect', async () => {
    const person = relay().person();
    relay().lines.length = 0;
    const answer = await person.open(`${wiki}/search?q=x`, ownForm);
    const line = relay().lines.find(({ action }) => action === 'check');
    expect(line).to.include({ outcome: 'login_started', level: 30 });
    expect([answer.status, answer.headers['location']]).to.deep.equal([401, undefined]);
    expect(answer.headers['content-security-policy']).to.match(/script-src 'sha256-[^']+'/);
    const [, link = ''] = /<a href="([^"]+)">Go to the login/.exec(`${answer.body}`) ?? [];
    expectPage(await person.visit(link.replaceAll('&amp;', '&')), '42 at /search?q=x with ');
  });

  it('is a page with the challenge in a frame of the application, and in no frame of another site', async () => {
    const framed = (site: string) => [
      ...navigationWith('Sec-Fetch-Dest', 'iframe').filter(([name]) => name !== 'Sec-Fetch-Site'),
      ['Sec-Fetch-Site', site] as [string, string],
    ];
    const own = await relay().check(`${wiki}/panel`, framed('same-origin'));
    expect(own.status).to.equal(401);
    expect(own.headers['www-authenticate']).to.include('Bearer');
    expect(own.headers['content-security-policy'])
      .to.include("frame-ancestors 'self'")
      .and.not.include("ancestors 'none'");
    expect(`${own.body}`).to.include('You are logged out').and.include('target="_blank"');
    const foreign = await relay().check(`${wiki}/panel`, framed('same-site'));
    expect(foreign.headers['content-security-policy']).to.include("frame-ancestors 'none'");
    expect(foreign.headers['content-type']).to.include('json');
  });

  it('is a page that asks to send a form again, after a login in another tab', async () => {
    const answer = await relay().check(`${wiki}/save`, ownForm, { method: 'POST' });
    expect(answer.status).to.equal(401);
    expect(`${answer.body}`).to.include('Log in, then send again').and.include('target="_blank"');
  });

  it('is a page that says where a form came from if it came from another site, because it would be refused again', async () => {
    for (const headers of [navigation, navigationWith('Sec-Fetch-Site', 'same-site')]) {
      const answer = await relay().check(`${wiki}/saml`, headers, { method: 'POST' });
      expect(answer.status).to.equal(403);
      expect(`${answer.body}`)
        .to.include('Sent from another site')
        .and.include('<a href="/">Go on to wiki.example.com');
    }
  });

  it('is a login for a page that a service worker passes on, and not for downloads and other requests of scripts', async () => {
    const person = relay().person();
    await person.visit(`${wiki}/`);
    const cookie: [string, string] = ['Cookie', person.jar.headerFor(new URL(wiki))];
    for (const [mode, accept, isPage] of [
      ['navigate', 'text/html,*/*;q=0.8', true],
      ['same-origin', 'text/html,*/*;q=0.8', true],
      ['navigate', undefined, false],
      ['same-origin', '*/*', false],
      ['cors', 'text/html,*/*;q=0.8', false],
      ['no-cors', 'text/html,*/*;q=0.8', false],
    ] as const) {
      const headers = (site: string): [string, string][] => [
        ['Sec-Fetch-Site', site],
        ['Sec-Fetch-Mode', mode],
        ['Sec-Fetch-Dest', 'empty'],
        ...(accept === undefined ? [] : [['Accept', accept] as [string, string]]),
      ];
      const own = await relay().check(`${wiki}/x`, headers('same-origin'));
      expect([own.status, `${own.body}`.includes('Go to the login')], `${mode} ${accept}`).to.deep.equal([401, isPage]);
      // A link on another site leads to the page.
      const linked = await relay().check(`${wiki}/x`, [...headers('cross-site'), cookie]);
      expect(linked.status, `${mode} ${accept}`).to.equal(isPage ? 204 : 403);
    }
  });

  it('is refused if the proxy does not say what it asks about', async () => {
    const { body: _, ...asked } = { path: '/auth/check/wiki', headers: navigation, body: '' };
    for (const headers of [
      [],
      [['X-Forwarded-Method', 'GET']],
      [['X-Forwarded-Uri', '/']],
      [
        ['X-Forwarded-Method', 'GET'],
        ['X-Forwarded-Uri', '/'],
        ['X-Forwarded-Uri', '/'],
      ],
      [
        ['X-Forwarded-Method', 'GET'],
        ['X-Forwarded-Method', 'POST'],
        ['X-Forwarded-Uri', '/'],
      ],
      [
        ['X-Forwarded-Method', 'GET'],
        ['X-Forwarded-Uri', 'https://evil.example/'],
      ],
      [
        ['X-Forwarded-Method', ''],
        ['X-Forwarded-Uri', ''],
      ],
    ] as [string, string][][]) {
      const answer = await relay().send({ ...asked, headers: [...navigation, ...headers] });
      expect(answer.status, JSON.stringify(headers)).to.equal(400);
      expect(`${answer.body}`).to.include('X-Forwarded-Method');
    }
    // A program without a cookie needs none of these headers.
    expect((await relay().send({ path: '/auth/check/wiki' })).status).to.equal(401);
  });

  it('is refused if it is no trusted proxy that says it', async () => {
    const untrusted = settings.relay?.replace('[127.0.0.1]', '[192.0.2.1]') ?? '';
    await relay().restart({ ...settings, relay: untrusted });
    expect((await relay().check(`${wiki}/`, navigation)).status).to.equal(400);
    const line = relay().lines.findLast(({ outcome }) => outcome === 'request_unknown');
    expect(line).to.include({ peer: '127.0.0.1' });
    await relay().restart(settings);
  });
});
