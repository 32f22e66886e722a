import { expect } from 'chai';
import { clearedCookies } from '../harness/browser/cookie-jar.ts';
import { granted, navigation, navigationWith } from '../harness/browser/fake-browser.ts';
import { json, reset } from '../harness/provider/provider-behaviours.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { ada, board, type DoorBrowser, doorRelay, fetching, settings, wiki } from './support/door-relay.ts';

const minute = 60_000;
const doorCookie = '__Host-Http-lr_door';
const ownForm = navigationWith('Sec-Fetch-Site', 'same-origin');
const logout = '/.login-relay/logout';

describe('a browser that is logged in at a resource', () => {
  const relay = doorRelay();
  let person: DoorBrowser;
  beforeEach(async () => {
    await relay().restart(settings);
    person = relay().person();
    await person.visit(`${board}/`);
    expect(person.logins).to.equal(1);
  });
  const isIn = async (one = person) => (await one.open(`${board}/x`, fetching)).status === 200;
  const cookie = () => person.cookies(board).get(doorCookie) ?? '';

  /** A browser with a copy of the cookie. */
  function copy(): DoorBrowser {
    const thief = relay().person();
    thief.cookies(board).set(doorCookie, cookie());
    return thief;
  }

  it('asks the provider again at the next page after the time of renewal, and says who it was', async () => {
    const before = cookie();
    relay().ahead = 5 * minute - 1000;
    expect((await person.visit(`${board}/a`)).text).to.include('42 at /a');
    expect(person.logins).to.equal(1);
    relay().ahead = 5 * minute;
    expect(await isIn()).to.equal(true);
    expect((await person.visit(`${board}/b?c=d`)).text).to.include('42 at /b?c=d');
    expect(person.logins).to.equal(2);
    expect(cookie()).not.to.equal(before);
    // The new cookie is good for its own lifetime.
    relay().ahead = 64 * minute;
    expect(await isIn()).to.equal(true);
    expect(person.trail.filter((address) => address.includes('/door/board'))).to.have.length(2);
  });

  it('is not renewed at an address whose query is too long to be kept, but at the next page', async () => {
    relay().ahead = 5 * minute;
    const address = `/callback?code=${'c'.repeat(1000)}`;
    expect((await person.visit(board + address)).text).to.equal(`42 at ${address} with `);
    expect(person.logins).to.equal(1);
    expect((await person.visit(`${board}/next`)).text).to.equal('42 at /next with ');
    expect(person.logins).to.equal(2);
  });

  it('may wait with a renewal that a page of the application would begin, as its script does in a window with an opener', async () => {
    relay().ahead = 5 * minute;
    const page = await person.open(`${board}/popup`, ownForm);
    expect(page.status).to.equal(401);
    expect(`${page.body}`).to.match(/<a href="[^"]+" data-renewal>Go to the login/);
    expect((await person.visit(`${board}/popup`, ownForm)).text).to.include('42 at /popup');
    expect(person.logins).to.equal(1);
  });

  it('is not renewed by a request for the rest of a file', async () => {
    relay().ahead = 5 * minute;
    expect((await person.visit(`${board}/file`, navigationWith('Range', 'bytes=9-'))).status).to.equal(200);
    expect(person.logins).to.equal(1);
    await person.visit(`${board}/file`);
    expect(person.logins).to.equal(2);
  });

  it('goes on until its lifetime is over if the provider is down, and is not asked at each page', async () => {
    relay().provider.onToken = reset;
    relay().ahead = 6 * minute;
    const failed = await person.visit(`${board}/a`);
    expect(failed.status).to.be.greaterThan(399);
    expect((await person.visit(`${board}/a`)).text).to.include('42 at /a');
    relay().ahead = 15 * minute;
    expect((await person.visit(`${board}/b`)).text).to.include('42 at /b');
    expect(person.logins).to.equal(2);
    // Ten minutes after the failed renewal, there is a new renewal.
    relay().ahead = 17 * minute;
    expect((await person.visit(`${board}/b`)).status).to.be.greaterThan(399);
    expect(person.logins).to.equal(3);
    expect((await person.visit(`${board}/b`)).text).to.include('42 at /b');
    relay().ahead = 60 * minute;
    expect((await person.visit(`${board}/b`)).status).to.be.greaterThan(399);
    expect(await isIn()).to.equal(false);
  });

  it('is renewed in the same way if the id of the person and the address are as long as they may be', async () => {
    const sub = 's'.repeat(3_500);
    const address = `/a?${'b'.repeat(990)}`;
    relay().provider.knows(json({ sub }));
    const other = relay().person();
    expect((await other.visit(`${board}/`)).status).to.equal(200);
    relay().ahead = 5 * minute;
    // Not the whole text, because a difference would fill pages.
    const isAtAddress = async () => (await other.visit(board + address)).text === `${sub} at ${address} with `;
    expect(await isAtAddress()).to.equal(true);
    expect(other.logins).to.equal(2);
    relay().provider.onToken = reset;
    relay().ahead = 11 * minute;
    expect((await other.visit(board + address)).status).to.be.greaterThan(399);
    // The provider is not asked again at each page.
    expect(await isAtAddress()).to.equal(true);
    expect(other.logins).to.equal(3);
    const thief = relay().person();
    for (const [name, value] of other.cookies(board)) thief.cookies(board).set(name, value);
    expect(await isIn(thief)).to.equal(true);
    await other.open(`${board}${logout}`, ownForm, 'POST', '');
    expect(await isIn(thief)).to.equal(false);
  });

  it('keeps the earlier cookie only together with the short cookie of its own renewal', async () => {
    relay().ahead = 6 * minute;
    await person.open(`${board}/a`);
    const ofLogin = [...person.cookies(board)].find(([cookie]) => /_login_[0-9a-f]{16}$/.test(cookie));
    const [name, value] = ofLogin ?? ['', ''];
    const other = relay().person();
    await other.visit(`${board}/`);
    relay().ahead = 12 * minute;
    other.cookies(board).set(name, value);
    for (const forged of ['x', `${value}x`, value.slice(0, -1)])
      other.cookies(board).set(`${name.slice(0, -1)}0`, forged);
    expect((await other.open(`${board}/b`)).status).to.equal(302);
  });

  it('is out everywhere if the provider or the operator refuses the renewal', async () => {
    const thief = copy();
    relay().ahead = 6 * minute;
    const denied = settings.relay?.replace('board: { url', "board: { allow: { users: ['7'] }, url") ?? '';
    relay().provider.knows(json({ ...ada, sub: '8' }));
    await relay().reload({ ...settings, relay: denied });
    expect((await person.visit(`${board}/a`)).status).to.equal(403);
    await relay().reload(settings);
    relay().provider.knows(json(ada));
    expect([await isIn(), await isIn(thief)]).to.deep.equal([true, true]);
    relay().provider.knows(json({ ...ada, sub: '9' }));
    const allowed = settings.relay?.replace('board: { url', "board: { allow: { users: ['42'] }, url") ?? '';
    await relay().restart({ ...settings, relay: allowed });
    const again = relay().person();
    relay().provider.knows(json(ada));
    await again.visit(`${board}/`);
    const copied = again.cookies(board).get(doorCookie) ?? '';
    relay().ahead = 12 * minute;
    relay().provider.knows(json({ ...ada, sub: '9' }));
    expect((await again.visit(`${board}/`)).status).to.equal(403);
    const thiefOfIt = relay().person();
    thiefOfIt.cookies(board).set(doorCookie, copied);
    expect([await isIn(again), await isIn(thiefOfIt)]).to.deep.equal([false, false]);
  });

  it('is a new login if another person renews, and ends the login and forgets the pages of the person before', async () => {
    const cleared = async () => {
      const start = await person.open(`${board}/a`);
      const asked = new URL((await person.open(start.headers['location'] ?? '')).headers['location'] ?? '');
      const back = await person.open(granted(relay().provider, asked));
      const { headers } = await person.open(back.headers['location'] ?? '');
      await person.visit(headers['location'] ?? '');
      return headers['clear-site-data'];
    };
    relay().ahead = 6 * minute;
    expect(await cleared()).to.equal(undefined);
    const earlier = copy();
    expect(await isIn(earlier)).to.equal(true);
    relay().ahead = 12 * minute;
    relay().provider.knows(json({ ...ada, sub: '43' }));
    expect(await cleared()).to.equal('"cache"');
    expect(await isIn(earlier)).to.equal(false);
    expect((await person.visit(`${board}/a`)).text).to.include('43 at /a');
    const thief = copy();
    await person.open(`${board}${logout}`, ownForm, 'POST', '');
    expect(await isIn(thief)).to.equal(false);
  });

  it('logs out, so that the cookie is cleared, a page says so, and copies from before a renewal end', async () => {
    const first = copy();
    relay().ahead = 6 * minute;
    await person.visit(`${board}/a`);
    const second = copy();
    expect((await person.open(`${board}${logout}`)).status).to.equal(200);
    expect(await isIn()).to.equal(true);
    const answer = await person.open(`${board}${logout}`, ownForm, 'POST', '');
    expect(answer.status).to.equal(303);
    expect(answer.headers['location']).to.equal(board + logout);
    expect(answer.headers['clear-site-data']).to.equal('"cache"');
    expect(clearedCookies(answer)).to.include.members([doorCookie, `${doorCookie}.1`, `${doorCookie}.2`]);
    expect([...person.cookies(board).keys()]).to.deep.equal([]);
    const page = await person.visit(`${board}${logout}`);
    expect(page.text).to.include('You are logged out').and.include('href="/"');
    expect([await isIn(), await isIn(first), await isIn(second)]).to.deep.equal([false, false, false]);
    expect((await person.visit(`${board}/c`)).text).to.include('42 at /c');
  });

  it('logs out by a request of its own page, and not by a page of another site', async () => {
    for (const headers of [
      navigation,
      navigationWith('Sec-Fetch-Site', 'same-site'),
      [...fetching, ['Origin', 'https://evil.example']] as [string, string][],
      [['Accept', '*/*']] as [string, string][],
    ]) {
      const answer = await person.open(`${board}${logout}`, headers, 'POST', '');
      expect(answer.status, JSON.stringify(headers)).to.equal(403);
      expect(await isIn()).to.equal(true);
    }
    const answer = await person.open(`${board}${logout}`, [...fetching, ['Origin', board]], 'POST', '');
    expect(answer.status).to.equal(204);
    expect(await isIn()).to.equal(false);
  });

  it('logs out while the provider and the shared memory do not answer', async () => {
    const memory = await MemoryServerHere.start();
    memory.now = () => Date.now() + relay().ahead;
    const shared = { ...settings, relay: `shared-memory: ${memory.address}\n${settings.relay}`, replicas: 2 };
    await relay().restart(shared);
    relay().at = 0;
    const other = relay().person();
    await other.visit(`${board}/`);
    const copied = other.cookies(board).get(doorCookie) ?? '';
    await memory.stop();
    relay().provider.onToken = reset;
    const answer = await other.open(`${board}${logout}`, ownForm, 'POST', '');
    expect(answer.status).to.equal(303);
    expect(other.cookies(board).has(doorCookie)).to.equal(false);
    other.cookies(board).set(doorCookie, copied);
    expect(await isIn(other)).to.equal(false);
    relay().at = undefined;
    await relay().restart(settings);
  });

  it('reaches all relays with a logout', async () => {
    const memory = await MemoryServerHere.start();
    memory.now = () => Date.now() + relay().ahead;
    const shared = { ...settings, relay: `shared-memory: ${memory.address}\n${settings.relay}`, replicas: 3 };
    await relay().restart(shared);
    const other = relay().person();
    await other.visit(`${board}/`);
    const copied = other.cookies(board).get(doorCookie) ?? '';
    for (const at of [0, 1, 2]) {
      relay().at = at;
      expect(await isIn(other)).to.equal(true);
    }
    await other.open(`${board}${logout}`, ownForm, 'POST', '');
    other.cookies(board).set(doorCookie, copied);
    relay().ahead = minute;
    for (const at of [0, 1, 2]) {
      relay().at = at;
      expect(await isIn(other), `${at}`).to.equal(false);
    }
    relay().at = undefined;
    await memory.stop();
    await relay().restart(settings);
  });

  it('is logged out when a reload removes the key, the resource or the permission, and stays logged in while the old key is kept', async () => {
    const newer = 'a new line of the key file, with 32 characters';
    const changed = (change: (text: string) => string) => ({ ...settings, relay: change(settings.relay ?? '') });
    for (const [what, other] of [
      ['key', { ...settings, files: { './key': newer } }],
      ['permission', changed((text) => text.replace('board: { url', "board: { allow: { users: ['42'] }, url"))],
      ['browser', changed((text) => text.replace('browser: { lifetime: 60, renew: 5 }', 'browser: false'))],
    ] as const) {
      await relay().restart(settings);
      const one = relay().person();
      await one.visit(`${board}/`);
      await relay().reload(other);
      expect(await isIn(one), what).to.equal(false);
    }
    await relay().reload(settings);
  });

  it('is out as soon as a reload says, if it shortens the lifetime, and in again for no longer than before', async () => {
    const withLifetime = (lifetime: number) => ({
      ...settings,
      relay: settings.relay?.replace('lifetime: 60', `lifetime: ${lifetime}`) ?? '',
    });
    relay().ahead = 10 * minute - 1000;
    await relay().reload(withLifetime(10));
    expect(await isIn()).to.equal(true);
    relay().ahead = 10 * minute;
    expect(await isIn()).to.equal(false);
    await relay().reload(settings);
    expect(await isIn()).to.equal(true);
    await relay().reload(withLifetime(120));
    relay().ahead = 60 * minute;
    expect(await isIn()).to.equal(false);
  });

  it('tells the application no more about its person than a reload says', async () => {
    const user = async (): Promise<unknown> =>
      JSON.parse(`${(await person.open(`${wiki}/.login-relay/user`, fetching)).body}`);
    const withIdentity = (identity: string) => ({
      ...settings,
      relay: settings.relay?.replace('[email, groups]', identity) ?? '',
    });
    await person.visit(`${wiki}/`);
    const named = { sub: '42', preferred_username: 'ada' };
    expect(await user()).to.deep.equal({ ...named, email: 'ada@example.com', groups: ['staff'] });
    await relay().reload(withIdentity('[groups]'));
    expect(await user()).to.deep.equal({ ...named, groups: ['staff'] });
    const { headers } = await relay().check(`${wiki}/x`, [
      ...fetching,
      ['Cookie', person.jar.headerFor(new URL(wiki))],
    ]);
    expect([headers['x-forwarded-email'], headers['x-forwarded-groups']]).to.deep.equal(['', 'staff']);
    await relay().reload(settings);
    expect(await user()).to.deep.equal({ ...named, email: 'ada@example.com', groups: ['staff'] });
  });

  it('logs out copies with a longer lifetime than the present one, for as long as they could last', async () => {
    const thief = copy();
    const shorter = {
      ...settings,
      relay: settings.relay?.replace('lifetime: 60, renew: 5', 'lifetime: 6, renew: 5') ?? '',
    };
    await relay().reload(shorter);
    await person.open(`${board}${logout}`, ownForm, 'POST', '');
    relay().ahead = 30 * minute;
    await relay().reload(settings);
    expect(await isIn(thief)).to.equal(false);
  });

  it('gets a page if a reload takes the resource away during the login', async () => {
    const one = relay().person();
    const start = await one.open(`${wiki}/`);
    const without = settings.relay?.replace(/ {2}wiki.*\n/, '') ?? '';
    const frontEnds = settings.frontEnds.replace('[wiki, board]', '[board]');
    await relay().reload({ ...settings, relay: without, frontEnds });
    const page = await one.visit(start.headers['location'] ?? '');
    expect(page.status).to.equal(400);
    expect(page.text).to.include('no longer configured');
    const callback = await one.visit(`${wiki}/.login-relay/callback?code=x&state=y`);
    expect(callback.status).to.equal(400);
    expect(callback.text).to.include('no longer configured');
    const goodbye = await one.visit(`${wiki}${logout}`);
    expect(goodbye.status).to.equal(404);
    expect(goodbye.text).to.include('<h1>').and.not.include('<a href');
    expect((await one.open(`${wiki}${logout}`, fetching)).headers['content-type']).to.match(/^application\/json/);
    await relay().reload(settings);
  });

  it('gets a page if that happens while the person is at the provider, or just before the cookie is set', async () => {
    const without = {
      ...settings,
      relay: settings.relay?.replace(/ {2}wiki.*\n/, '') ?? '',
      frontEnds: settings.frontEnds.replace('[wiki, board]', '[board]'),
    };
    const one = relay().person();
    const start = await one.open(`${wiki}/`);
    const asked = await one.open(start.headers['location'] ?? '');
    const back = granted(relay().provider, new URL(asked.headers['location'] ?? ''));
    await relay().reload(without);
    const atLogin = await one.visit(back);
    expect(atLogin.url.pathname).to.match(/\/callback$/);
    expect(atLogin.status).to.equal(400);
    expect(atLogin.text).to.include('no longer configured');

    await relay().reload(settings);
    const again = await one.open(`${wiki}/`);
    const askedAgain = await one.open(again.headers['location'] ?? '');
    const { headers } = await one.open(granted(relay().provider, new URL(askedAgain.headers['location'] ?? '')));
    await relay().reload(without);
    const atDoor = await one.visit(headers['location'] ?? '');
    expect(atDoor.status).to.equal(400);
    expect(one.cookies(wiki).has(doorCookie)).to.equal(false);
    // It has not been spent: as soon as the resource is back, the same address ends the login.
    await relay().reload(settings);
    expect((await one.visit(headers['location'] ?? '')).text).to.include('42 at / with');
  });

  it('stays logged in, and others can log in, while the shared memory does not answer', async () => {
    const memory = await MemoryServerHere.start();
    memory.now = () => Date.now() + relay().ahead;
    await relay().restart({ ...settings, relay: `shared-memory: ${memory.address}\n${settings.relay}` });
    const before = relay().person();
    await before.visit(`${board}/`);
    await memory.stop();
    expect(await isIn(before)).to.equal(true);
    const later = relay().person();
    expect((await later.visit(`${board}/a`)).text).to.include('42 at /a');
    expect(await isIn(later)).to.equal(true);
    await relay().restart(settings);
  });
});
