import { expect } from 'chai';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import { json, reset } from '../harness/provider/provider-behaviours.ts';
import { type DoorBrowser, fetching, ownForm } from './support/door-relay.ts';
import { apart, eve, providersRelay, wiki } from './support/providers-relay.ts';

const minute = 60_000;
const choose = `${wiki}/.login-relay/choose`;
const doorCookie = '__Host-Http-lr_door';
const choiceCookie = `${doorCookie}_provider`;

/** The providers on a page to choose, in their order. */
const offered = ({ text }: { readonly text: string }) =>
  [...text.matchAll(/<button name="provider" value="([^"]*)"/g)].map(([, name]) => name);

describe('the choice of a provider at a resource', () => {
  const relay = providersRelay();
  let person: DoorBrowser;
  beforeEach(() => {
    person = relay().person();
  });

  it('comes before any login, and leads back to the page, to the letter', async () => {
    const page = await person.visit(`${wiki}/notes/a%20b?c=d&e=%2f`);
    expect(page.status).to.equal(200);
    expect(page.url.origin + page.url.pathname).to.equal(choose);
    expect(page.text).to.include('Log in').and.include('wiki.example.com').and.include('Example &amp; Sons');
    expect(offered(page)).to.deep.equal(['provider', 'second']);
    expect([person.logins, relay().provider.calls, relay().second.calls]).to.deep.equal([0, [], []]);
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(401);
    const back = await person.press(page, 'provider', 'second');
    expect(back.text).to.equal('second:42 at /notes/a%20b?c=d&e=%2f with ');
    expect(person.logins).to.equal(1);
    expect(relay().provider.calls).to.deep.equal([]);
    const user = jsonOf(await person.open(`${wiki}/.login-relay/user`, fetching));
    expect(user).to.deep.equal({ sub: 'second:42', preferred_username: 'eve', email: 'eve@example.org' });
  });

  it('is a page without a script, which no other page can frame or read', async () => {
    const { text, headers } = await person.visit(`${wiki}/`);
    expect(text).not.to.match(/<script|onclick|javascript:/i);
    expect(headers).to.include({ 'cache-control': 'no-store, no-transform', 'referrer-policy': 'same-origin' });
    expect(headers['content-security-policy']).to.include("default-src 'none'").and.include("frame-ancestors 'none'");
    expect(headers).not.to.have.property('access-control-allow-origin');
  });

  it('has the provider of the last choice first, even after a logout', async () => {
    const first = await person.visit(`${wiki}/`);
    expect(first.text).not.to.include('data-last>');
    await person.press(first, 'provider', 'second');
    const [cookie] = setCookies(await person.open(choose, ownForm, 'POST', 'provider=second')).filter(
      ({ name }) => name === choiceCookie,
    );
    expect(cookie).to.deep.equal({
      name: choiceCookie,
      value: 'second',
      maxAge: '31536000',
      attributes: ['HttpOnly', 'Max-Age=31536000', 'Path=/', 'SameSite=Lax', 'Secure'],
    });
    await person.open(`${wiki}/.login-relay/logout`, ownForm, 'POST', '');
    const again = await person.visit(`${wiki}/`);
    expect(offered(again)).to.deep.equal(['second', 'provider']);
    expect(again.text)
      .to.match(/value="second" data-last>/)
      .and.not.match(/value="provider" data-last>/);
  });

  it('accepts from the cookie of the last choice only a name of its own list', async () => {
    for (const value of ['third', '__proto__', 'constructor', '<script>', '"', 'second, provider', 'x'.repeat(3000)]) {
      person.cookies(wiki).set(choiceCookie, value);
      const page = await person.visit(`${wiki}/`);
      expect(offered(page), value).to.deep.equal(['provider', 'second']);
      expect(page.text).not.to.include('<script').and.not.include('data-last>');
    }
  });

  it('never passes its cookie to the application', async () => {
    await person.press(await person.visit(`${wiki}/`), 'provider', 'second');
    person.cookies(wiki).set('theme', 'dark');
    const checked = await relay().check(`${wiki}/`, [...fetching, ['Cookie', person.jar.headerFor(new URL(wiki))]]);
    expect(checked.headers).to.include({ cookie: 'theme=dark', 'x-forwarded-user': 'second:42' });
    expect(person.jar.headerFor(new URL(wiki))).to.include(choiceCookie);
  });

  it('is not asked for a renewal, which goes to the provider of the cookie', async () => {
    await person.press(await person.visit(`${wiki}/`), 'provider', 'second');
    relay().ahead = 6 * minute;
    expect((await person.visit(`${wiki}/b?c`)).text).to.equal('second:42 at /b?c with ');
    expect(person.asked).to.have.length(2);
    expect(person.asked.every(({ href }) => href.startsWith(relay().second.authorizeUrl))).to.equal(true);
    // The provider does not answer, so nobody is locked out, and nobody has to log in.
    relay().second.onToken = reset;
    relay().ahead = 12 * minute;
    expect((await person.visit(`${wiki}/b`)).status).to.equal(502);
    expect((await person.visit(`${wiki}/b`)).text).to.equal('second:42 at /b with ');
  });

  it('is asked again for another account, which the chosen provider then lets the person choose', async () => {
    await relay().restart(relay().file({ more: "allow: { users: ['provider:42', 'second:43'] }" }));
    const refused = await person.press(await person.visit(`${wiki}/notes`), 'provider', 'second');
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('eve');
    const [, link = ''] = /<a href="([^"]+)">Log in with another account/.exec(refused.text) ?? [];
    const page = await person.visit(link.replaceAll('&amp;', '&'));
    expect(offered(page)).to.deep.equal(['second', 'provider']);
    const logins = () => person.asked.map(({ searchParams }) => searchParams.get('prompt'));
    expect(logins()).to.deep.equal([null]);
    expect((await person.press(page, 'provider', 'provider')).text).to.equal('provider:42 at / with ');
    const start = person.trail.findLast((address) => address.includes('/door/wiki')) ?? '';
    expect(new URL(start).searchParams.get('prompt')).to.equal('select_account');
  });

  it('is offered again to a person who is logged in and wants another account', async () => {
    await person.press(await person.visit(`${wiki}/`), 'provider', 'second');
    const page = await person.visit(`${choose}?prompt=select_account`);
    expect((await person.press(page, 'provider', 'provider')).text).to.equal('provider:42 at / with ');
    // Any other value counts as no cookie.
    expect((await person.visit(`${choose}?prompt=none`)).text).to.equal('provider:42 at / with ');
  });

  it('keeps the login of a person who chooses the same account again, so that a logout also ends earlier copies', async () => {
    await person.press(await person.visit(`${wiki}/`), 'provider', 'second');
    const copy: [string, string] = ['Cookie', person.jar.headerFor(new URL(wiki))];
    const statusOfCopy = async () => (await relay().check(`${wiki}/x`, [...fetching, copy])).status;
    const again = async (registration: string) => {
      const page = await person.visit(`${choose}?prompt=select_account`);
      return (await person.press(page, 'provider', registration)).text;
    };
    expect(await again('second')).to.equal('second:42 at / with ');
    expect(await statusOfCopy()).to.equal(204);
    await person.open(`${wiki}/.login-relay/logout`, ownForm, 'POST', '');
    expect(await statusOfCopy()).to.equal(401);
    // The login of before the logout has ended, so the next login is another one.
    expect(await again('second')).to.equal('second:42 at / with ');
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(200);
  });

  it('goes on to the page if another tab has logged in meanwhile', async () => {
    const one = await person.visit(`${wiki}/one`);
    const other = await person.visit(`${wiki}/other`);
    relay().ahead = 100;
    await person.press(one, 'provider', 'provider');
    expect((await person.visit(other.url.href)).text).to.equal('provider:42 at /other with ');
    expect(person.logins).to.equal(1);
    // Back in the first tab: its login is over.
    expect((await person.visit(one.url.href)).text).to.equal('provider:42 at / with ');
    // A person who presses a button nevertheless logs in at that provider.
    const pressed = await person.press(other, 'provider', 'second');
    expect(pressed.text).to.match(/^second:42 at \/(other)? with $/);
  });

  it('goes on to the page after a login in another tab, even if the clocks of two relays differ', async () => {
    relay().ahead = 8_000;
    const one = await person.visit(`${wiki}/one`);
    const other = await person.visit(`${wiki}/other`);
    relay().ahead = 0;
    await person.press(one, 'provider', 'provider');
    expect((await person.visit(other.url.href)).text).to.equal('provider:42 at /other with ');
    expect(person.logins).to.equal(1);
  });

  it('is a page again after a logout, from the history', async () => {
    const page = await person.visit(`${wiki}/notes`);
    await person.press(page, 'provider', 'second');
    await person.open(`${wiki}/.login-relay/logout`, ownForm, 'POST', '');
    const again = await person.visit(page.url.href);
    expect(offered(again)).to.deep.equal(['second', 'provider']);
    expect((await person.press(again, 'provider', 'provider')).text).to.equal('provider:42 at / with ');
  });

  it('can be corrected with the back button, and the second choice also leads back to the page', async () => {
    const page = await person.visit(`${wiki}/notes?a`);
    const begun = await person.open(
      choose,
      ownForm,
      'POST',
      `provider=provider&state=${page.url.searchParams.get('state')}`,
    );
    expect(new URL(begun.headers['location'] ?? '').pathname).to.include('/auth/provider/door/wiki');
    await person.open(begun.headers['location'] ?? '');
    expect((await person.press(page, 'provider', 'second')).text).to.equal('second:42 at /notes?a with ');
  });

  it('waits as long as the person does, and gives the login its whole time', async () => {
    const page = await person.visit(`${wiki}/notes`);
    relay().ahead = 9 * minute;
    const begun = await person.open(
      choose,
      ownForm,
      'POST',
      `provider=second&state=${page.url.searchParams.get('state')}`,
    );
    const asked = await person.open(begun.headers['location'] ?? '');
    relay().ahead = 18 * minute;
    expect((await person.visit(asked.headers['location'] ?? '')).text).to.equal('second:42 at /notes with ');
    // After the time of a login, only the way back is lost.
    await person.open(`${wiki}/.login-relay/logout`, ownForm, 'POST', '');
    const late = await person.visit(`${wiki}/late`);
    relay().ahead = 40 * minute;
    expect((await person.press(late, 'provider', 'second')).text).to.equal('second:42 at / with ');
  });

  it('keeps ten tabs apart that are opened at once', async () => {
    const addresses = Array.from({ length: 10 }, (_, index) => `${wiki}/tab${index}?${'q'.repeat(40)}`);
    const pages = await Promise.all(addresses.map(async (address) => await person.visit(address)));
    relay().ahead = 100;
    for (const [index, page] of pages.entries()) {
      const { text } = index === 0 ? await person.press(page, 'provider', 'second') : await person.visit(page.url.href);
      expect(text).to.include(`second:42 at /tab${index}?qqq`);
    }
    expect(person.logins).to.equal(1);
    expect(person.jar.headerFor(new URL(wiki)).length).to.be.lessThan(8192);
  });

  it('cannot be made by another site', async () => {
    const page = await person.visit(`${wiki}/`);
    const state = page.url.searchParams.get('state') ?? '';
    const body = `provider=second&state=${state}`;
    const by = async (headers: [string, string][], method = 'POST') => await person.open(choose, headers, method, body);
    for (const [what, headers, status] of [
      ['another site', navigation, 403],
      ['a sibling host', navigationWith('Sec-Fetch-Site', 'same-site'), 403],
      ['a page of another origin in an old browser', [...withoutSite, ['Origin', 'https://evil.example']], 403],
      ['an old browser that hides its page', [...withoutSite, ['Origin', 'null']], 403],
      ['an old browser without an origin', withoutSite, 403],
      ['a frame', [...ownForm.filter(([name]) => name !== 'Sec-Fetch-Dest'), ['Sec-Fetch-Dest', 'iframe']], 400],
      ['a script', fetching, 400],
      ['a prefetch', [...ownForm, ['Sec-Purpose', 'prefetch']], 503],
    ] as [string, [string, string][], number][]) {
      const answer = await by(headers);
      expect(answer.status, what).to.equal(status);
      expect(answer.headers['location'], what).to.equal(undefined);
      expect(setCookies(answer), what).to.deep.equal([]);
    }
    for (const method of ['HEAD', 'PUT', 'DELETE']) {
      const { status, headers } = await by(ownForm, method);
      expect([status, headers['allow']], method).to.deep.equal([405, 'GET, POST, OPTIONS']);
    }
    expect((await by(ownForm)).status).to.equal(303);
  });

  it('is not made by a link, whatever the link says', async () => {
    const page = await person.visit(`${wiki}/notes`);
    for (const query of [
      'provider=second',
      `provider=second&state=${page.url.searchParams.get('state')}`,
      'state=x',
      '',
    ]) {
      const answer = await person.open(`${choose}?${query}`);
      expect(answer.status, query).to.equal(200);
      expect(setCookies(answer), query).to.deep.equal([]);
    }
    const repeated = await person.open(`${choose}?state=a&state=b`);
    expect(repeated.status).to.equal(400);
    for (const headers of [fetching, navigationWith('Sec-Fetch-Dest', 'iframe')]) {
      expect((await person.open(choose, headers)).status).to.equal(400);
    }
    expect((await person.open(choose, [...navigation, ['Sec-Purpose', 'prefetch;prerender']])).status).to.equal(503);
  });

  it('is offered once more if the form was changed, or a reload has removed the provider', async () => {
    const page = await person.visit(`${wiki}/notes`);
    const state = page.url.searchParams.get('state') ?? '';
    for (const name of ['third', '', '__proto__', 'provider:42', 'https://evil.example']) {
      const answer = await person.open(choose, ownForm, 'POST', `${new URLSearchParams({ provider: name, state })}`);
      expect(answer.status, name).to.equal(303);
      expect(answer.headers['location'], name).to.equal(`${choose}?state=${state}`);
      expect(setCookies(answer), name).to.deep.equal([]);
    }
    // A login that has not begun is not repeated, however long its address is.
    const junk = await person.open(choose, ownForm, 'POST', `provider=third&state=${'x'.repeat(5000)}`);
    expect(junk.headers['location']).to.equal(choose);
    for (const body of [`provider=provider&provider=second&state=${state}`, 'provider=%ff']) {
      expect((await person.open(choose, ownForm, 'POST', body)).status, body).to.equal(400);
    }
    for (const forged of ['x', state.slice(1), 'A'.repeat(43), '%00', '../..']) {
      const answer = await person.open(
        choose,
        ownForm,
        'POST',
        `${new URLSearchParams({ provider: 'second', state: forged })}`,
      );
      expect(answer.status, forged).to.equal(303);
      expect(new URL(answer.headers['location'] ?? '').pathname).to.include('/auth/second/door/wiki');
    }
    await relay().reload(relay().file({ provider: '[second]', frontEnds: apart }));
    // There is nothing to choose any more, so the page starts the login.
    expect((await person.press(page, 'provider', 'provider')).text).to.equal('second:42 at /notes with ');
  });

  it('leads a person back to the page if a reload has put a single provider in place of the list', async () => {
    const page = await person.visit(`${wiki}/notes`);
    const single = relay().file({ provider: 'second', frontEnds: apart });
    await relay().reload(single);
    expect((await relay().person().visit(page.url.href)).text).to.equal('42 at / with ');
    expect((await person.press(page, 'provider', 'provider')).text).to.equal('42 at /notes with ');
    expect((await person.visit(choose)).text).to.equal('42 at / with ');
  });

  it('has the name, language and words of the operator', async () => {
    const texts = 'choose_heading: Anmelden, choose_about: "Anmelden bei {site}", log_in_with: "Mit {provider}"';
    await relay().restart(relay().file({ relay: `pages: { name: Muster, lang: de, texts: { ${texts} } }` }));
    const { text } = await person.visit(`${wiki}/`);
    expect(text)
      .to.include('<html lang="de"')
      .and.include('<span>Muster</span>')
      .and.include('<title>Anmelden</title>');
    expect(text).to.include('Anmelden bei wiki.example.com').and.include('Mit <bdi>Example &amp; Sons</bdi>');
  });

  it('has a separate action in the log, which names the chosen provider', async () => {
    const page = await person.visit(`${wiki}/`);
    await person.press(page, 'provider', 'second');
    const line = relay().lines.findLast(({ action, method }) => action === 'door-choose' && method === 'POST');
    expect(line).to.include({ resource: 'wiki', registration: 'second', status: 303, outcome: 'ok' });
    const start = relay().lines.findLast(({ action }) => action === 'start');
    expect(start).to.include({ resource: 'wiki', registration: 'second' });
    const passed = relay().lines.findLast(({ action, status }) => action === 'check' && status === 204);
    expect(passed).to.include({ resource: 'wiki', registration: 'second', by: 'cookie' });
  });
});

const withoutSite = ownForm.filter(([name]) => !name.startsWith('Sec-Fetch-'));

describe('a login with a choice that cannot end', () => {
  const relay = providersRelay();
  let person: DoorBrowser;
  beforeEach(() => {
    person = relay().person();
  });

  it('is a page that says so after one choice, if the browser refuses cookies', async () => {
    person.keepsCookie = (_, host) => host !== new URL(wiki).host;
    const page = await person.visit(`${wiki}/notes`);
    expect(offered(page)).to.deep.equal(['provider', 'second']);
    const end = await person.press(page, 'provider', 'second');
    expect(end.status).to.equal(400);
    expect(end.text).to.include('Login failed').and.include('<a href=');
    expect(person.logins).to.equal(1);
  });

  it('is a page, if the proxy does not hand the cookies to the check, now and an hour later', async () => {
    person.proxyPassesCookies = false;
    const page = await person.press(await person.visit(`${wiki}/notes`), 'provider', 'second');
    expect(page.text).to.include('The cookie is missing').and.include('Go on to wiki.example.com');
    expect(person.logins).to.equal(1);
    relay().ahead = 30 * minute;
    const later = await person.visit(`${wiki}/notes`);
    expect(later.text).to.include('The cookie is missing').and.include('Go on to wiki.example.com');
    expect(person.logins).to.equal(1);
  });

  it('is a page, if the proxy passes cookies in neither direction, and without that a way back from a stale tab', async () => {
    await person.press(await person.visit(`${wiki}/notes`), 'provider', 'second');
    person.trail.length = 0;
    expect((await person.visit(`${wiki}/.login-relay/choose?state=stale`)).text).to.include('at /');
    person.proxyPassesCookies = false;
    person.proxyPassesSetCookie = false;
    relay().ahead = minute;
    const page = await person.visit(`${wiki}/notes`);
    expect(page.text).to.include('The proxy does not let you pass').and.include('<a href=');
    expect(person.trail.length).to.be.at.most(8);
    expect(person.logins).to.equal(1);
  });

  it('is a page with a way back to the choice, if the chosen provider is not known yet', async () => {
    const { otherProviders: _, ...file } = relay().file();
    const unknown = '  second: { issuer: "http://127.0.0.1:9/", client-id: a, client-secret: b }';
    await relay().restart({ ...file, otherProviders: unknown });
    const page = await person.visit(`${wiki}/notes`);
    const failed = await person.press(page, 'provider', 'second');
    expect(failed.status).to.equal(503);
    expect(failed.text).to.include(`href="${wiki}/"`);
    // The other one is open, also to a code whose registration has to be found.
    expect((await person.press(page, 'provider', 'provider')).text).to.equal('provider:42 at /notes with ');
  });

  it('leads back to the choice from a login that the person cancels at the provider', async () => {
    const page = await person.visit(`${wiki}/notes`);
    const body = `provider=second&state=${page.url.searchParams.get('state')}`;
    const start = await person.open(choose, ownForm, 'POST', body);
    const asked = new URL((await person.open(start.headers['location'] ?? '')).headers['location'] ?? '').searchParams;
    const state = asked.get('state') ?? '';
    const cancelled = await person.visit(
      `${asked.get('redirect_uri')}?${new URLSearchParams({ error: 'access_denied', state })}`,
    );
    expect(cancelled.text).to.include('Login cancelled').and.include(`href="${wiki}/"`);
    const again = await person.visit(`${wiki}/`);
    expect(offered(again)).to.deep.equal(['second', 'provider']);
    expect((await person.press(again, 'provider', 'provider')).text).to.equal('provider:42 at / with ');
  });

  it('is one login if the button is pressed twice', async () => {
    const page = await person.visit(`${wiki}/notes`);
    const body = `provider=second&state=${page.url.searchParams.get('state')}`;
    const [first, second] = await Promise.all([1, 2].map(() => person.open(choose, ownForm, 'POST', body)));
    // The browser follows the second one only.
    expect(first?.status).to.equal(303);
    expect((await person.visit(second?.headers['location'] ?? '')).text).to.equal('second:42 at /notes with ');
    // The first one is over then, and no loop.
    const late = await person.visit(first?.headers['location'] ?? '');
    expect(late.status).to.equal(400);
    expect(late.text).to.include('Login already finished');
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(200);
  });

  it('asks again instead of showing a page if the provider fails', async () => {
    relay().second.onToken = reset;
    const failed = await person.press(await person.visit(`${wiki}/notes`), 'provider', 'second');
    expect(failed.status).to.equal(502);
    const page = await person.visit(`${wiki}/notes`);
    expect((await person.press(page, 'provider', 'provider')).text).to.equal('provider:42 at /notes with ');
  });
});

describe('a list of one provider', () => {
  const relay = providersRelay({ provider: '[second]', frontEnds: apart });

  it('has no page to choose, and ids with its name', async () => {
    const person = relay().person();
    expect((await person.visit(`${wiki}/notes`)).text).to.equal('second:42 at /notes with ');
    expect(person.trail.some((address) => address.includes('/choose'))).to.equal(false);
    // A person who opens the address nevertheless is sent on.
    expect((await person.visit(choose)).text).to.equal('second:42 at / with ');
    expect((await relay().person().visit(choose)).text).to.equal('second:42 at / with ');
    expect(person.cookies(wiki).has(choiceCookie)).to.equal(false);
  });

  it('lets a person who is logged in choose another account, by the same link as several', async () => {
    const person = relay().person();
    await person.visit(`${wiki}/notes`);
    relay().second.knows(json({ ...eve, sub: '43' }));
    expect((await person.visit(`${choose}?prompt=select_account`)).text).to.equal('second:43 at / with ');
    const start = person.trail.findLast((address) => address.includes('/door/wiki')) ?? '';
    expect(new URL(start).searchParams.get('prompt')).to.equal('select_account');
  });

  it('asks for another account at it at once', async () => {
    await relay().restart(relay().file({ provider: '[second]', more: "allow: { users: ['43'] }", frontEnds: apart }));
    const person = relay().person();
    const refused = await person.visit(`${wiki}/`);
    const [, link = ''] = /<a href="([^"]+)">Log in with another account/.exec(refused.text) ?? [];
    relay().second.knows(json({ ...eve, sub: '43' }));
    expect((await person.visit(link.replaceAll('&amp;', '&'))).text).to.equal('second:43 at / with ');
    const start = person.trail.findLast((address) => address.includes('/door/wiki')) ?? '';
    expect(start).to.include('/auth/second/door/wiki').and.include('prompt=select_account');
  });
});
