import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { expectSessionFailure, SessionPage, sessionOf } from '../harness/login/session-page.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import type { StrictProvider } from '../harness/provider/strict-provider.ts';
import { baseUrl, keyFile as newKeyFile, type Relay, startRelayWith } from '../harness/relay/relay-under-test.ts';
import { entryOf, startProviderOf } from '../registrations/support/team.ts';

const origins = {
  app: 'https://app.relay.example',
  shop: 'https://shop.relay.example',
  wiki: 'https://shop.relay.example',
  home: new URL(baseUrl).origin,
} as const;
type FrontEnd = keyof typeof origins;

const ambiguous = 'This relay has several front ends with sessions: name one by the parameter client_id.';

const sessionless =
  'No front end of this name has sessions. Without them, leave out mode: "session" in the browser client.';

const cookieOf = (frontEnd: FrontEnd) => `__Host-Http-lr_session_${frontEnd}`;

describe('several front ends with sessions', () => {
  let providers: Readonly<Record<'github' | 'staff', StrictProvider>>;
  let keyFile: string;
  const relays: Relay[] = [];
  let relay: Relay;

  /** Starts a relay whose registrations and front ends can have other names and clients. */
  async function start(change: (config: string) => string = (config) => config): Promise<Relay> {
    const registrations = await Promise.all(
      Object.entries(providers).map(([name, provider]) => entryOf(name, provider)),
    );
    const started = await startRelayWith(
      change(`base-url: ${baseUrl}
port: 0
key-file: ${keyFile}
providers:
${registrations.join('')}front-ends:
  app: { origin: ${origins.app}, token-delivery: session }
  shop: { origin: ${origins.shop}, token-delivery: session }
  wiki: { origin: ${origins.wiki}, token-delivery: session, providers: [staff] }
  home: { origin: ${origins.home}, token-delivery: session }
  plain: { origin: https://plain.relay.example }
`),
    );
    relays.push(started);
    return started;
  }

  before('start two providers and a relay', async () => {
    const [github, staff] = await Promise.all([startProviderOf('github'), startProviderOf('staff')]);
    providers = { github, staff };
    keyFile = await newKeyFile();
    relay = await start();
  });
  beforeEach(() => {
    for (const provider of Object.values(providers)) provider.forget();
  });
  after('stop them', async () => {
    await Promise.all(relays.map((one) => one.stop()));
    await Promise.all(Object.values(providers).map((provider) => provider.stop()));
  });

  async function logIn(
    frontEnd: FrontEnd,
    name: keyof typeof providers = 'staff',
    page = new SessionPage(() => relay, providers[name]),
  ): Promise<SessionPage> {
    const end = await page.logIn(`/auth/${name}/${frontEnd}`);
    expect(end.href).to.equal(`${origins[frontEnd]}/`);
    return page;
  }

  /** Gives a page the cookies of another page, as if both were in the same browser. */
  function share(from: SessionPage, to: SessionPage): void {
    for (const [name, value] of from.browser.cookies) to.browser.cookies.set(name, value);
  }

  it('each have their own session, found by their origin', async () => {
    const page = await logIn('app', 'github');
    expect(sessionOf(await page.describe())).to.include({ provider: 'github' });
    const shop = await page.describe({ origin: origins.shop });
    expectSessionFailure(shop, 'client_unknown', ambiguous);
    const named = await page.send('/auth/session?client_id=shop', 'GET', { origin: origins.shop });
    expectSessionFailure(named, 'session_missing');
  });

  it('keep their sessions when another front end logs in and out', async () => {
    const other = new SessionPage(() => relay, providers.staff);
    share(await logIn('app', 'github'), other);
    await other.logIn('/auth/staff/wiki');
    expect(sessionOf(await other.describe())).to.include({ provider: 'github' });
    const wiki = { origin: origins.wiki };
    const asked = await other.send('/auth/session?client_id=wiki', 'GET', wiki);
    expect(sessionOf(asked)).to.include({ provider: 'staff' });
    await other.send('/auth/logout?client_id=wiki', 'POST', wiki);
    sessionOf(await other.describe());
  });

  it('have to be named by requests without Origin', async () => {
    const page = await logIn('app', 'github');
    const unnamed = await page.describe({ origin: undefined });
    expectSessionFailure(unnamed, 'client_unknown', ambiguous);
    const named = await page.send('/auth/session?client_id=app', 'GET', { origin: undefined });
    expect(sessionOf(named)).to.include({ provider: 'github' });
  });

  it('cannot use each other’s sessions, by client_id or by a renamed cookie', async () => {
    const page = await logIn('app', 'github');
    const shop = { origin: origins.shop };
    const asked = await page.send('/auth/session?client_id=app', 'GET', shop);
    expectSessionFailure(asked, 'origin_foreign');
    const swapped = `${cookieOf('shop')}=${page.browser.cookies.get(cookieOf('app'))}`;
    const renamed = { ...shop, cookie: swapped };
    for (const [method, path] of [
      ['GET', '/auth/session'],
      ['POST', '/auth/session/refresh'],
      ['GET', '/api/user'],
    ] as const) {
      expect((await page.send(`${path}?client_id=shop`, method, renamed)).status).to.equal(401);
    }
    expect(providers.github.credentials('user')).to.deep.equal([]);
  });

  it('cannot use each other’s sessions from the origin of the relay, where pages send no Origin', async () => {
    const page = await logIn('home', 'staff');
    share(await logIn('app', 'github'), page);
    const sameOrigin = { origin: undefined, site: 'same-origin' };
    expect(sessionOf(await page.describe(sameOrigin))).to.include({ provider: 'staff' });
    expect((await page.lookUp(sameOrigin)).status).to.equal(200);
    for (const path of ['/auth/session', '/api/user']) {
      const answer = await page.send(`${path}?client_id=app`, 'GET', sameOrigin);
      expect(answer.status, path).to.equal(403);
    }
    expect(providers.github.credentials('user')).to.deep.equal([]);
  });

  it('lead no login to an origin that the front end has left in the meantime', async () => {
    const moved = await start((config) => config.replace(origins.app, 'https://new.relay.example'));
    let current = relay;
    const page = new SessionPage(() => current, {
      authorize(request) {
        current = moved;
        return providers.github.authorize(request);
      },
    });
    const end = await page.logIn(`/auth/github/app?return_to=${origins.app}/here`);
    expect(end.href).to.equal('https://new.relay.example/');
  });

  it('can have long tokens, all in the same browser', async () => {
    providers.staff.onToken = json({ access_token: 'a'.repeat(7000), token_type: 'bearer' });
    const page = await logIn('app');
    for (const frontEnd of ['shop', 'wiki', 'home'] as const) share(await logIn(frontEnd), page);
    expect(page.cookie).to.have.length.above(32 * 1024);
    sessionOf(await page.describe());
    expect((await page.logOut()).status).to.equal(200);
  });

  it('give no session to a front end that gets tokens', async () => {
    const page = await logIn('app', 'github');
    const plain = { origin: 'https://plain.relay.example' };
    expectSessionFailure(await page.describe(plain), 'origin_foreign');
    expect((await page.lookUp(plain)).status).to.equal(403);
    const named = await page.send('/auth/session?client_id=plain', 'GET', plain);
    expectSessionFailure(named, 'client_unknown', sessionless);
  });

  it('look up the user only at the provider of the session', async () => {
    const page = await logIn('app', 'staff');
    expect((await page.lookUp()).status).to.equal(200);
    expect((await page.send('/api/user?provider=staff')).status).to.equal(200);
    expect((await page.send('/api/user?provider=github')).status).to.equal(401);
    expect((await page.send('/api/user?provider=other')).status).to.equal(400);
    expect(providers.staff.credentials('user')).to.have.lengthOf(2);
    expect(providers.github.credentials('user')).to.deep.equal([]);
  });

  for (const [what, change] of Object.entries<(config: string) => string>({
    'the registration has another client': (config) => config.replace('client-at-github', 'another-client'),
    'the registration has another name': (config) => config.replace('  github:', '  hub:'),
    'another registration has taken over its name': (config) =>
      config.replace('  github:', '  old:').replace('  staff:', '  github:').replace('[staff]', '[github]'),
  })) {
    it(`lose their sessions if ${what}, and no token goes to a provider`, async () => {
      const page = await logIn('app', 'github');
      const changed = await start(change);
      const elsewhere = new SessionPage(() => changed, providers.github);
      const { cookie } = page;
      expect((await elsewhere.lookUp({ cookie })).status).to.equal(401);
      const answer = await elsewhere.refresh({ cookie });
      expectSessionFailure(answer, 'session_missing');
      expect(setCookies(answer)).to.deep.equal([]);
      for (const provider of Object.values(providers)) {
        expect(provider.credentials('user')).to.deep.equal([]);
      }
    });
  }
});
