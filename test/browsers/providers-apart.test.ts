import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { jsonOf, locationOf } from '../clients/support/clients-relay.ts';
import { granted, navigation } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/request.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../harness/provider/serve.ts';
import { eventually } from '../harness/system/eventually.ts';
import { type DoorBrowser, fetching, ownForm } from './support/door-relay.ts';
import { ada, apart, eve, providersRelay, type Registration, secret, wiki } from './support/providers-relay.ts';

const minute = 60_000;
const choose = `${wiki}/.login-relay/choose`;
const doorCookie = '__Host-Http-lr_door';
const registrations = ['provider', 'second'] as const;
const relay = providersRelay();

const bearer = (token: unknown): [string, string] => ['Authorization', `Bearer ${token}`];
const checkOf = async (token: unknown): Promise<Answer> => await relay().check(`${wiki}/`, [bearer(token)]);
const userOf = async (token: unknown) => (await checkOf(token)).headers['x-forwarded-user'];

/** A browser that is logged in at the resource. */
async function browserAt(registration: Registration, person = relay().person()): Promise<DoorBrowser> {
  const page = await person.visit(`${wiki}/`);
  const { text } = await person.press(page, 'provider', registration);
  expect(text).to.equal(`${registration}:42 at / with `);
  return person;
}

describe('people of several providers at a resource', () => {
  it('are told apart, however alike their ids are, in cookies, tokens, introspections and answers', async () => {
    for (const registration of registrations) {
      const sub = `${registration}:42`;
      const person = await browserAt(registration);
      expect(jsonOf(await person.open(`${wiki}/.login-relay/user`, fetching))['sub']).to.equal(sub);
      const { access_token, refresh_token, identity } = await relay().tokensFrom(registration);
      expect(identity).to.deep.include({ sub });
      expect(await userOf(access_token)).to.equal(sub);
      const refreshing = { grant_type: 'refresh_token', client_id: 'app', refresh_token: `${refresh_token}` };
      const refreshed = jsonOf(await relay().postTo(registration, 'token', refreshing));
      expect(refreshed['identity']).to.deep.include({ sub });
      expect(await userOf(refreshed['access_token'])).to.equal(sub);
      // The server of the resource asks at a single address, whichever registration issued the token.
      for (const one of registrations) {
        const iss = `${relay().address}/auth/${registration}`;
        expect(await relay().introspectAt(one, access_token)).to.include({ active: true, sub, iss, aud: `${wiki}/` });
      }
    }
  });

  it('may be admitted by name although nobody else of their provider is', async () => {
    await relay().restart(relay().file({ more: "allow: { users: ['second:42'] }" }));
    expect((await relay().tokensFrom('provider'))['error']).to.equal('access_denied');
    expect((await relay().tokensFrom('second'))['identity']).to.deep.include({ sub: 'second:42' });
    const person = relay().person();
    const page = await person.visit(`${wiki}/`);
    expect((await person.press(page, 'provider', 'provider')).status).to.equal(403);
    expect((await person.press(page, 'provider', 'second')).text).to.include('second:42');
  });

  it('cannot choose an id at one provider that equals an id of another provider or of a machine', async () => {
    for (const sub of ['second:42', 'machine:ci', '../second:42', 'provider:42', ':', '%3A42']) {
      relay().provider.knows(json({ ...ada, sub }));
      const { access_token, error } = await relay().tokensFrom('provider');
      if (sub === 'machine:ci') expect(error).to.equal('access_denied');
      else expect(decodeURIComponent(`${await userOf(access_token)}`)).to.equal(`provider:${sub}`);
    }
  });

  it('are found by programs in the metadata, with all issuers, in the order of the list', async () => {
    const issuers = registrations.map((name) => `${relay().address}/auth/${name}`);
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/']) {
      const metadata = jsonOf(await relay().send({ path, authority: new URL(wiki).host }));
      expect(metadata['authorization_servers']).to.deep.equal(issuers);
    }
    await relay().restart(relay().file({ provider: '[second, provider]' }));
    const path = '/.well-known/oauth-protected-resource';
    const reversed = jsonOf(await relay().send({ path, authority: new URL(wiki).host }));
    expect(reversed['authorization_servers']).to.deep.equal(issuers.toReversed());
    for (const issuer of issuers) {
      const { pathname } = new URL(issuer);
      const described = jsonOf(await relay().send({ path: `/.well-known/oauth-authorization-server${pathname}` }));
      expect(described).to.include({ issuer, introspection_endpoint: `${issuer}/introspect` });
    }
    // A program that may not log in at the first registration could not continue there.
    const some = `  app: { origin: https://app.example, token-delivery: code, providers: [second], resources: [wiki] }
  other: { origin: https://other.example, token-delivery: code, providers: [provider] }
`;
    await relay().restart(relay().file({ frontEnds: some }));
    const usable = jsonOf(await relay().send({ path, authority: new URL(wiki).host }));
    expect(usable['authorization_servers']).to.deep.equal([issuers[1]]);
  });

  it('do not affect machines, which may ask at each registration, and have the same id everywhere', async () => {
    const form = { grant_type: 'client_credentials', client_id: 'ci', client_secret: secret };
    for (const registration of registrations) {
      const { access_token, identity } = jsonOf(await relay().postTo(registration, 'token', form));
      expect(identity).to.deep.equal({ sub: 'machine:ci', preferred_username: 'ci' });
      expect(await userOf(access_token)).to.equal('machine:ci');
      for (const one of registrations) {
        expect(await relay().introspectAt(one, access_token)).to.include({ active: true, sub: 'machine:ci' });
      }
      // The machine may end its token at the other registration.
      const { client_id, client_secret } = form;
      const other = registration === 'second' ? 'provider' : 'second';
      await relay().postTo(other, 'revoke', { client_id, client_secret, token: `${access_token}` });
      expect((await checkOf(access_token)).status).to.equal(401);
    }
    expect([relay().provider.calls, relay().second.calls]).to.deep.equal([[], []]);
  });

  it('log out without affecting each other', async () => {
    const one = await browserAt('provider');
    const other = await browserAt('second');
    const token = (await relay().tokensFrom('second'))['access_token'];
    await one.open(`${wiki}/.login-relay/logout`, ownForm, 'POST', '');
    expect((await one.open(`${wiki}/x`, fetching)).status).to.equal(401);
    expect((await other.open(`${wiki}/x`, fetching)).status).to.equal(200);
    expect(await userOf(token)).to.equal('second:42');
  });
});

describe('a text of one provider, at the other provider', () => {
  /** Begins a login of a browser, up to the code of the relay. */
  async function begin(person: DoorBrowser, registration: Registration) {
    const page = await person.visit(`${wiki}/notes`);
    const state = page.url.searchParams.get('state') ?? '';
    const start = locationOf(await person.open(choose, ownForm, 'POST', `provider=${registration}&state=${state}`));
    const asked = locationOf(await person.open(start.href));
    const callback = granted(relay().providerOf(registration), asked);
    return { start, asked, callback };
  }
  const isIn = async (person: DoorBrowser) => (await person.open(`${wiki}/x`, fetching)).status === 200;

  it('is not accepted as a ticket, because the start of a login is for one provider', async () => {
    const person = relay().person();
    const { start } = await begin(person, 'provider');
    const other = new URL(start);
    other.pathname = other.pathname.replace('/provider/', '/second/');
    const answer = await person.open(other.href);
    expect(answer.status).to.equal(400);
    expect(answer.headers['location']).to.equal(undefined);
  });

  it('is not accepted as a callback, by its code or its state, and nothing reaches the other provider', async () => {
    const person = relay().person();
    const other = relay().person();
    const one = await begin(person, 'provider');
    const two = await begin(other, 'second');
    const state = (url: string) => new URL(url).searchParams.get('state') ?? '';
    const code = (url: string) => new URL(url).searchParams.get('code') ?? '';
    const at = (registration: Registration, parameters: Record<string, string>) =>
      `${relay().address}/auth/${registration}/callback?${new URLSearchParams(parameters)}`;
    for (const address of [
      at('second', { code: code(one.callback), state: state(one.callback) }),
      at('second', { code: code(two.callback), state: state(one.callback) }),
      at('second', { code: code(one.callback), state: state(two.callback) }),
      at('provider', { code: code(two.callback), state: state(two.callback) }),
      // A provider that sends its user on to the other provider (a mix-up attack) does not get the other provider's
      // code.
      at('provider', { code: code(one.callback), state: state(two.callback) }),
    ]) {
      const answer = await person.open(address);
      expect(answer.status, address).to.equal(400);
      expect(await isIn(person)).to.equal(false);
    }
    expect([relay().provider.calls, relay().second.calls]).to.deep.equal([[], []]);
  });

  it('is no code at the door of the resource, whatever `iss` says', async () => {
    const person = relay().person();
    const mine = await begin(person, 'provider');
    const foreign = await begin(relay().person(), 'second');
    const back = locationOf(await person.open(mine.callback));
    expect(back.searchParams.get('iss')).to.equal(`${relay().address}/auth/provider`);
    const stolen = relay().person();
    for (const [name, value] of person.jar.at(new URL(relay().address).host)) {
      stolen.jar.at(new URL(relay().address).host).set(name, value);
    }
    const theirs = await person.open(foreign.callback);
    expect(theirs.status).to.equal(400);
    // Another name in `iss` changes nothing, because the code contains its registration.
    const other = new URL(back);
    other.searchParams.set('iss', `${relay().address}/auth/second`);
    expect((await person.visit(other.href)).text).to.equal('provider:42 at /notes with ');
    expect(relay().second.calls).to.deep.equal([]);
  });

  it('is no code at the token endpoint, and no refresh token', async () => {
    const { form } = await relay().codeFrom('provider');
    const redeemed = await relay().postTo('second', 'token', { grant_type: 'authorization_code', ...form });
    expect(jsonOf(redeemed)).to.include({ error: 'invalid_grant' });
    const { refresh_token } = await relay().tokensFrom('provider');
    const refreshing = { grant_type: 'refresh_token', client_id: 'app', refresh_token: `${refresh_token}` };
    expect(jsonOf(await relay().postTo('second', 'token', refreshing))).to.include({ error: 'invalid_grant' });
    expect(relay().second.calls).to.deep.equal([]);
  });

  it('gives the same person at the second step of a callback in every browser with the cookie', async () => {
    const person = await browserAt('second');
    const second = person.trail.findLast((address) => address.includes('/.login-relay/callback?state=')) ?? '';
    const stranger = relay().person();
    expect((await stranger.visit(second)).status).to.equal(400);
    expect(await isIn(stranger)).to.equal(false);
  });

  it('spends a code of either provider that a stranger shows', async () => {
    for (const registration of registrations) {
      const person = relay().person();
      const { callback } = await begin(person, registration);
      const back = locationOf(await person.open(callback)).href;
      const stranger = relay().person();
      expect((await stranger.visit(back)).status).to.equal(400);
      expect((await person.visit(back)).status).to.equal(400);
      expect(await isIn(person)).to.equal(false);
    }
    expect([relay().provider.calls, relay().second.calls]).to.deep.equal([[], []]);
  });
});

describe('a reload of a resource with several providers', () => {
  /** The cookies and tokens of both providers. */
  async function everything() {
    const browsers = { provider: await browserAt('provider'), second: await browserAt('second') };
    const tokens = { provider: await relay().tokensFrom('provider'), second: await relay().tokensFrom('second') };
    const isOpen = async (registration: Registration) => [
      (await browsers[registration].open(`${wiki}/x`, fetching)).status === 200,
      (await checkOf(tokens[registration]['access_token'])).status === 204,
    ];
    return { browsers, tokens, isOpen };
  }

  it('that removes a provider ends only the cookies and tokens of this provider', async () => {
    const { browsers, tokens, isOpen } = await everything();
    const app = (resources: string) =>
      `  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, providers: [provider], resources: [wiki] }\n${resources}`;
    const other = '  other: { origin: https://other.example, token-delivery: code, providers: [second] }\n';
    await relay().reload(relay().file({ provider: '[provider]', frontEnds: app(other) }));
    expect(await isOpen('provider')).to.deep.equal([true, true]);
    expect(await isOpen('second')).to.deep.equal([false, false]);
    expect(await relay().introspectAt('provider', tokens.second['access_token'])).to.deep.equal({ active: false });
    // The browser logs in again at the remaining provider, without a page to choose. Within a minute after its last
    // login, it would get a page that says that the cookie is missing.
    relay().ahead = 2 * minute;
    expect((await browsers.second.visit(`${wiki}/`)).text).to.equal('provider:42 at / with ');
    await relay().reload(relay().file());
    expect(await isOpen('provider')).to.deep.equal([true, true]);
  });

  it('that removes a provider lets the next login forget the pages of the person before, who may be another', async () => {
    const person = await browserAt('second');
    await relay().reload(relay().file({ provider: '[provider]', frontEnds: apart }));
    relay().ahead = 2 * minute;
    const start = locationOf(await person.open(`${wiki}/`));
    const asked = locationOf(await person.open(start.href));
    const callback = locationOf(await person.open(granted(relay().provider, asked)));
    const answer = await person.open(callback.href);
    expect(answer.status).to.equal(302);
    expect(answer.headers['clear-site-data']).to.equal('"cache"');
  });

  it('that adds a provider, or changes the order, leaves everybody in', async () => {
    await relay().restart(relay().file({ provider: '[second]', frontEnds: apart }));
    const person = relay().person();
    await person.visit(`${wiki}/`);
    for (const provider of ['[second, provider]', '[provider, second]']) {
      await relay().reload(relay().file({ provider }));
      expect((await person.visit(`${wiki}/`)).text).to.equal('second:42 at / with ');
    }
    expect(person.logins).to.equal(1);
  });

  it('that adds a provider, and so its name to the rules, leaves everybody in whom the rules still name', async () => {
    const of = (provider: string, users: string) => ({
      provider,
      more: `allow: { users: [${users}] }`,
      frontEnds: apart,
    });
    await relay().restart(relay().file(of('[second]', "'42'")));
    const person = relay().person();
    await person.visit(`${wiki}/`);
    await relay().reload(relay().file(of('[provider, second]', "'provider:7', 'second:42'")));
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(200);
    await relay().reload(relay().file(of('[provider, second]', "'provider:42', 'second:7'")));
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(401);
  });

  it('that changes the form of the ids ends all cookies and tokens with the old form, so that no application takes a person for another', async () => {
    const forms = ['provider', '[provider]', 'provider'];
    const app = `  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, providers: [provider], resources: [wiki] }
  other: { origin: https://other.example, token-delivery: code, providers: [second] }
`;
    const of = (provider: string) => relay().file({ provider, frontEnds: app });
    await relay().restart(of(forms[0] ?? ''));
    const person = relay().person();
    expect((await person.visit(`${wiki}/`)).text).to.equal('42 at / with ');
    const { access_token, refresh_token, identity } = await relay().tokensFrom('provider');
    expect(identity).to.deep.include({ sub: '42' });
    await relay().reload(of(forms[1] ?? ''));
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(401);
    expect((await checkOf(access_token)).status).to.equal(401);
    expect(await relay().introspectAt('provider', access_token)).to.deep.equal({ active: false });
    // A refresh gives a program a token with the new id; the next page gives a browser a cookie with it.
    const refreshing = { grant_type: 'refresh_token', client_id: 'app', refresh_token: `${refresh_token}` };
    const renewed = jsonOf(await relay().postTo('provider', 'token', refreshing));
    expect(renewed['identity']).to.deep.include({ sub: 'provider:42' });
    expect(await userOf(renewed['access_token'])).to.equal('provider:42');
    // A cookie that does not open counts as no cookie, so this is a new login and not a renewal.
    relay().ahead = 2 * minute;
    expect((await person.visit(`${wiki}/`)).text).to.equal('provider:42 at / with ');
    await relay().reload(of(forms[2] ?? ''));
    expect((await checkOf(renewed['access_token'])).status).to.equal(401);
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(401);
  });

  it('that removes a provider while a person logs in there ends this login with a page', async () => {
    const person = relay().person();
    const page = await person.visit(`${wiki}/notes`);
    const state = page.url.searchParams.get('state') ?? '';
    const start = locationOf(await person.open(choose, ownForm, 'POST', `provider=second&state=${state}`));
    const asked = locationOf(await person.open(start.href));
    await relay().reload(relay().file({ provider: '[provider]', frontEnds: apart }));
    const failed = await person.visit(granted(relay().second, asked));
    expect(failed.status).to.be.within(400, 410);
    // Programs still get 404.
    expect((await person.open(start.href, fetching)).status).to.equal(404);
    const gone = await person.visit(start.href);
    expect([gone.status, gone.url.href]).to.deep.equal([400, start.href]);
    expect(gone.text).to.include('no longer configured').and.include(`<a href="${wiki}/">Log in again</a>`);
    expect((await person.visit(`${wiki}/notes`)).text).to.equal('provider:42 at /notes with ');
  });

  it('that removes a provider leaves its people a button to log out, which clears their cookie', async () => {
    const person = await browserAt('second');
    await relay().reload(relay().file({ provider: '[provider]', frontEnds: apart }));
    const logout = `${wiki}/.login-relay/logout`;
    // The cookie would open the resource again if the provider came back.
    expect((await person.visit(logout)).text).to.include('<button>Log out</button>');
    const answer = await person.open(logout, ownForm, 'POST', '');
    expect([answer.status, answer.headers['location']]).to.deep.equal([303, logout]);
    expect((await person.visit(logout)).text).not.to.include('<button>');
    await relay().reload(relay().file());
    expect((await person.open(`${wiki}/x`, fetching)).status).to.equal(401);
  });

  it('that lets a provider be somebody else ends what the earlier one gave', async () => {
    const { isOpen } = await everything();
    const { otherProviders = '' } = relay().file();
    const changed = otherProviders.replace(/client-id: \S+/, 'client-id: client-2');
    await relay().reload({ ...relay().file(), otherProviders: changed });
    expect(await isOpen('provider')).to.deep.equal([true, true]);
    expect(await isOpen('second')).to.deep.equal([false, false]);
  });
});

describe('an application of several providers behind the relay', () => {
  const streaming: [string, string][] = [...fetching.slice(1), ['Accept', 'text/event-stream']];
  let application: Serving;
  /** The open event streams, by whom the application has been told of. */
  const streams = new Map<string, ServerResponse>();
  before(async () => {
    application = await serve((request, response) => {
      const user = `${request.headers['x-forwarded-user']}`;
      if (request.url !== '/events') return void response.end(user);
      streams.set(user, response.writeHead(200, { 'Content-Type': 'text/event-stream' }));
      response.write(`data: ${user}\n\n`);
    });
  });
  after(async () => await application.close());
  const upstream = () => `upstream: 'http://127.0.0.1:${application.port}/'`;

  it('learns ids with the name of the provider, by cookie and token', async () => {
    const tokens = await Promise.all(registrations.map(async (one) => (await relay().tokensFrom(one))['access_token']));
    await relay().reload(relay().file({ more: upstream() }));
    for (const [index, registration] of registrations.entries()) {
      const person = relay().person(relay().port);
      const page = await person.visit(`${wiki}/notes`);
      expect((await person.press(page, 'provider', registration)).text).to.equal(`${registration}:42`);
      const sending = { path: '/', authority: new URL(wiki).host, headers: [bearer(tokens[index])] };
      expect(`${(await relay().send(sending)).body}`).to.equal(`${registration}:42`);
    }
  });

  it('loses the streams of a provider that a reload removes, and no other stream', async () => {
    await relay().reload(relay().file({ more: upstream() }));
    const opened = await Promise.all(
      registrations.map(async (registration) => {
        const person = relay().person(relay().port);
        await person.press(await person.visit(`${wiki}/`), 'provider', registration);
        return await person.listen(`${wiki}/events`, streaming);
      }),
    );
    expect([...streams.keys()].sort()).to.deep.equal(['provider:42', 'second:42']);
    await relay().reload(relay().file({ provider: '[provider]', frontEnds: apart, more: upstream() }));
    const [first, second] = opened;
    expect(`${(await second?.ended)?.body}`).to.equal('data: second:42\n\n');
    streams.get('provider:42')?.end('data: still here\n\n');
    expect(`${(await first?.ended)?.body}`).to.equal('data: provider:42\n\ndata: still here\n\n');
    const ends = () =>
      relay()
        .lines.filter(({ ended }) => ended !== undefined)
        .map(({ registration, ended }) => `${registration} ${ended}`);
    await eventually(async () => expect(ends()).to.include.members(['second reload', 'provider upstream']));
  });
});

describe('cookies and tokens that no registration of the list issued', () => {
  it('open nothing, in any place', async () => {
    const person = await browserAt('second');
    const { access_token } = await relay().tokensFrom('second');
    const cookie = person.cookies(wiki).get(doorCookie) ?? '';
    await relay().restart(relay().file({ provider: '[provider]', frontEnds: apart }));
    const forged = [cookie, `${access_token}`, 'lr1_', 'x', cookie.slice(1), `${cookie}.`, 'second:42'];
    for (const text of forged) {
      const headers: [string, string][] = [...fetching, ['Cookie', `${doorCookie}=${text}`]];
      expect((await relay().check(`${wiki}/`, headers)).status, text).to.equal(401);
      expect((await checkOf(text)).status, text).to.equal(401);
      expect(await relay().introspectAt('provider', text)).to.deep.equal({ active: false });
    }
    const asPage = await relay().check(`${wiki}/`, [...navigation, ['Cookie', `${doorCookie}=${cookie}`]]);
    expect(asPage.status).to.equal(302);
    expect(eve.sub).to.equal(ada.sub);
  });
});
