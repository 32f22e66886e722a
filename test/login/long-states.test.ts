import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { ClientsRelay, jsonOf, locationOf, loopback } from '../clients/support/clients-relay.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { type FakeBrowser, granted } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/request.ts';
import { encoded, oauthStart } from '../harness/login/oauth-front-end.ts';
import { relayOfFile } from '../harness/relay/relay-of-file.ts';
import { loginPath } from '../harness/relay/relay-under-test.ts';

const settings = {
  frontEnds: `  app: { origin: https://app.example, error-delivery: redirect }
  shop: { origin: https://shop.relay.example, token-delivery: session }
  tools: { kind: native, redirect-uris: [http://127.0.0.1/callback] }
  open: { kind: native, clients: { registration: true } }
`,
};

/** Text that does not compress well. */
const text = (length: number) => randomBytes(length).toString('base64url').slice(0, length);

/** The `Cookie` header of a browser with these cookies, without the cookies of sessions. */
function sizeOfLoginCookies({ cookies }: FakeBrowser): number {
  const pairs = [...cookies].filter(([name]) => name.includes('lr_login_'));
  return pairs.map((pair) => pair.join('=')).join('; ').length;
}

describe('a long state of a front end', () => {
  const relay = relayOfFile(async () => {
    const started = await ClientsRelay.listen();
    await started.restart(settings);
    return started;
  });
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = relay().browser();
  });

  /** Opens a start. Returns the authorization request, whose state is as short as any provider accepts. */
  function requestIn(answer: Answer): URL {
    const request = locationOf(answer);
    expect(request.searchParams.get('state')?.length).to.be.within(100, 399);
    return request;
  }

  const open = async (start: string, at = browser) => requestIn(await at.open(start));
  const finish = async (request: URL, at = browser) => await at.open(granted(relay().provider, request));
  const plainStart = (state: string, name = 'app') => `${loginPath}/${name}?${new URLSearchParams({ state })}`;

  for (const length of [0, 43, 512, 521, 2048]) {
    it(`comes back unchanged, though the provider sees less than 400 characters: ${length}`, async () => {
      const state = text(length);
      const end = locationOf(await finish(await open(plainStart(state))));
      expect(end.searchParams.get('state') ?? '').to.equal(state);
      expect(end.searchParams.has('access_token')).to.equal(true);
      const { parameters, codeVerifier } = oauthStart({ state, client_id: 'tools', redirect_uri: loopback });
      const back = locationOf(await finish(await open(`${loginPath}?${encoded(parameters)}`)));
      expect(back.searchParams.get('state') ?? '').to.equal(state);
      const code = back.searchParams.get('code') ?? '';
      const tokens = jsonOf(await relay().redeem({ parameters, state, codeVerifier }, code));
      expect(tokens).to.include.keys('access_token');
      expect([...browser.cookies.keys()]).to.deep.equal(['__Host-Http-lr_login_finished']);
    });
  }

  it('comes back to a program that registered itself, after the question to the person', async () => {
    for (const length of [521, 2048]) {
      const state = text(length);
      const registered = jsonOf(await relay().post('register', JSON.stringify({ redirect_uris: [loopback] })));
      const question = await relay().ask({ client_id: `${registered['client_id']}`, state });
      const request = requestIn(await relay().decide(question));
      const back = locationOf(await question.browser.open(granted(relay().provider, request)));
      expect(back.searchParams.get('state')).to.equal(state);
      const code = back.searchParams.get('code') ?? '';
      expect(jsonOf(await relay().redeem(question.start, code))).to.include.keys('access_token');
    }
  });

  for (const length of [512, 2048]) {
    it(`is as short for a session that begins at a page of ${length} characters`, async () => {
      const page = `https://shop.relay.example/${text(length - 27)}`;
      const request = await open(`${loginPath}/shop?${new URLSearchParams({ return_to: page, state: text(2048) })}`);
      expect(locationOf(await finish(request)).href).to.equal(page);
    });
  }

  it('comes back with the failure of the provider', async () => {
    const state = text(2048);
    const { parameters } = oauthStart({ state, client_id: 'tools', redirect_uri: loopback });
    const request = await open(`${loginPath}?${encoded(parameters)}`);
    const back = new URL(granted(relay().provider, request));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    const { searchParams } = locationOf(await browser.open(back.href));
    expect(searchParams.get('error')).to.equal('access_denied');
    expect(searchParams.get('state')).to.equal(state);
  });

  it('comes back with a failure before the state is verified', async () => {
    const state = text(2048);
    const { parameters } = oauthStart({ state, client_id: 'tools', redirect_uri: loopback });
    const request = await open(`${loginPath}?${encoded(parameters)}`);
    const back = granted(relay().provider, request);
    const repeated = locationOf(await browser.open(`${back}&${new URL(back).search.slice(1).split('&')[0]}`));
    expect(repeated.searchParams.get('error')).to.equal('invalid_request');
    expect(repeated.searchParams.get('state')).to.equal(state);
  });

  describe('of many logins', () => {
    it('takes less than 8 KB of cookies together, and the newest login ends, one after another', async () => {
      for (let count = 0; count < 20; count += 1) {
        const state = text(2048);
        const request = await open(plainStart(state));
        expect(sizeOfLoginCookies(browser), `login ${count + 1}`).to.be.below(8192);
        // Every second login ends, so that there are also finished logins.
        if (count % 2 === 0) continue;
        expect(locationOf(await finish(request)).searchParams.get('state')).to.equal(state);
      }
    });

    it('takes less than 8 KB if all start at once, before any answer, and the newest login succeeds', async () => {
      // Twenty finished logins take the most room.
      for (let count = 0; count < 20; count += 1) await finish(await open(plainStart('short')));
      const logins = Array.from({ length: 20 }, () => text(2048));
      const answers: Answer[] = [];
      for (const state of logins) {
        const tab = relay().browser();
        for (const [name, value] of browser.cookies) tab.cookies.set(name, value);
        answers.push(await tab.open(plainStart(state)));
      }
      for (const answer of answers) {
        for (const { name, value, maxAge } of setCookies(answer)) {
          if (maxAge === '0') browser.cookies.delete(name);
          else browser.cookies.set(name, value);
        }
      }
      expect(sizeOfLoginCookies(browser)).to.be.within(4000, 8191);
      const [newest, ...others] = answers.map(requestIn).toReversed();
      const end = locationOf(await finish(newest as URL));
      expect(end.searchParams.get('state')).to.equal(logins.at(-1));
      expect(end.searchParams.has('access_token')).to.equal(true);
      for (const request of others) {
        const lost = await finish(request);
        expect(locationOf(lost).searchParams.get('error')).to.equal('state_unknown');
      }
      expect(relay().provider.calls.filter(({ endpoint }) => endpoint === 'token')).to.have.lengthOf(21);
    });

    it('overwrites the oldest pending login first, and no login if there is room', async () => {
      const states = Array.from({ length: 9 }, () => text(521));
      const requests: URL[] = [];
      for (const state of states) requests.push(await open(plainStart(state)));
      const ends = [];
      for (const request of requests) ends.push(locationOf(await finish(request)).searchParams);
      expect(ends.map((end) => end.get('error') ?? end.get('state'))).to.deep.equal([
        'state_unknown',
        ...states.slice(1),
      ]);
    });

    it('does not affect logins with a short state', async () => {
      const short = await open(plainStart('short'));
      for (let count = 0; count < 10; count += 1) await open(plainStart(text(2048)));
      expect(locationOf(await finish(short)).searchParams.get('state')).to.equal('short');
    });
  });

  describe('whose cookies somebody tampers with', () => {
    const partName = (index: number) => `__Host-Http-lr_login_part_${index}`;

    /** A login with a long state in its own browser, and the names of the cookies that hold it. */
    async function begin(state = text(1500)) {
      const tab = relay().browser();
      const request = await open(plainStart(state), tab);
      const parts = [...tab.cookies.keys()].filter((name) => name.includes('_part_'));
      return { tab, request, state, parts };
    }

    /** The callback of a login without one part of its request. The relay must not request a token for it. */
    async function expectLost(tab: FakeBrowser, request: URL, ...codes: string[]) {
      relay().provider.calls.length = 0;
      const end = locationOf(await finish(request, tab));
      expect(end.origin).to.equal('https://app.example');
      expect(end.searchParams.get('error')).to.be.oneOf(codes.length === 0 ? ['state_unknown'] : codes);
      expect(end.searchParams.has('state')).to.equal(false);
      expect(relay().provider.calls).to.deep.equal([]);
    }

    it('does not end if a part is missing, altered, empty, or in another place', async () => {
      const changes: ((value: string, other: string) => string | undefined)[] = [
        () => undefined,
        () => '',
        (value) => value.slice(0, -1),
        (value) => `${value.slice(0, -1)}${value.endsWith('A') ? 'B' : 'A'}`,
        (value) => value.replace('.0.', '.1.'),
        (value) => value.replace('.0.', '.8.'),
        (value) => `"${value}"`,
        (_, other) => other,
      ];
      for (const change of changes) {
        const { tab, request, parts } = await begin();
        expect(parts.length).to.be.above(1);
        const [first = '', second = ''] = parts;
        const changed = change(tab.cookies.get(first) ?? '', tab.cookies.get(second) ?? '');
        if (changed === undefined) tab.cookies.delete(first);
        else tab.cookies.set(first, changed);
        await expectLost(tab, request, 'state_unknown', 'cookie_invalid');
      }
    });

    it('ends with its own state although the parts have other names, and foreign cookies come with them', async () => {
      const { tab, request, state, parts } = await begin();
      const values = parts.map((name) => tab.cookies.get(name) ?? '');
      for (const name of parts) tab.cookies.delete(name);
      for (const [index, value] of values.entries()) tab.cookies.set(partName(7 - index), value);
      tab.cookies.set(partName(0), `${'0'.repeat(16)}.0.${text(700)}`);
      tab.cookies.set(partName(1), '__proto__');
      tab.cookies.set('__Host-Http-lr_login_part_9', values[0] ?? '');
      expect(locationOf(await finish(request, tab)).searchParams.get('state')).to.equal(state);
    });

    it("does not end with another login's parts, however they are named", async () => {
      const mine = await begin();
      const theirs = await begin();
      const idOf = ({ tab }: typeof mine) => [...tab.cookies.keys()].at(-1)?.slice(-16) ?? '';
      for (const name of mine.parts) {
        const value = theirs.tab.cookies.get(name) ?? '';
        mine.tab.cookies.set(name, value.replace(idOf(theirs), idOf(mine)));
      }
      await expectLost(mine.tab, mine.request);
    });

    it("does not end in another browser, though that has all shared cookies of the login's own", async () => {
      const mine = await begin();
      const victim = relay().browser();
      for (const name of mine.parts) victim.cookies.set(name, mine.tab.cookies.get(name) ?? '');
      relay().provider.calls.length = 0;
      const end = locationOf(await finish(mine.request, victim));
      expect(end.searchParams.get('error')).to.equal('state_unknown');
      expect(end.searchParams.has('access_token')).to.equal(false);
      expect(relay().provider.calls).to.deep.equal([]);
    });

    it('is refused if a part comes twice, because a sibling domain may have set one of them', async () => {
      const { tab, request, parts } = await begin();
      const [first = ''] = parts;
      const cookies = [...tab.cookies].map((pair) => pair.join('='));
      const twice = [...cookies, `${first}=${tab.cookies.get(first)}`].join('; ');
      const back = new URL(granted(relay().provider, request));
      relay().provider.calls.length = 0;
      const answer = await relay().send({ path: back.pathname + back.search, headers: [['Cookie', twice]] });
      expect(locationOf(answer).searchParams.get('error')).to.equal('cookie_invalid');
      expect(relay().provider.calls).to.deep.equal([]);
    });

    it('ends once, and spends nothing if the callback is opened again', async () => {
      const { tab, request } = await begin();
      const back = granted(relay().provider, request);
      const before = new Map(tab.cookies);
      expect(locationOf(await tab.open(back)).searchParams.has('access_token')).to.equal(true);
      expect(locationOf(await tab.open(back)).searchParams.get('error')).to.equal('state_finished');
      // Copies of the cookies do not help.
      for (const [name, value] of before) tab.cookies.set(name, value);
      expect(locationOf(await tab.open(back)).searchParams.get('error')).to.equal('state_finished');
      expect(relay().provider.calls.filter(({ endpoint }) => endpoint === 'token')).to.have.lengthOf(1);
    });

    it('sets a bounded number of cookies, whatever a request makes up', async () => {
      for (let index = 0; index < 8; index += 1) {
        browser.cookies.set(partName(index), `${`${index}`.repeat(16)}.${index}.${text(700)}`);
      }
      for (let count = 0; count < 150; count += 1) {
        browser.cookies.set(`__Host-Http-lr_login_${`${count}`.padStart(16, '0')}`, 'x');
      }
      const answer = await browser.open(plainStart(text(2048)));
      expect(setCookies(answer).length).to.be.at.most(29);
      expect(locationOf(await finish(requestIn(answer))).searchParams.has('access_token')).to.equal(true);
    });
  });
});
