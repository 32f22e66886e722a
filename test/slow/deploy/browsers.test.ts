import { expect } from 'chai';
import { ada, type DoorBrowser, DoorRelay, fetching, settings, wiki } from '../../browsers/support/door-relay.ts';
import { navigation, navigationWith } from '../../harness/browser/fake-browser.ts';
import { send } from '../../harness/client/http-client.ts';
import { pipelined } from '../../harness/client/pipelined.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { logIn, ofApp, tokensOf } from '../../resources/support/resources-relay.ts';
import { Balancer, type Replacement, type Site } from './support/balancer.ts';
import { claim, forgeries } from './support/forged-identities.ts';
import { type Application, type Header, headersIn, startApplication } from './support/guarded-application.ts';
import { browserGuards, checkingRelayPaths } from './support/kinds.ts';

const host = new URL(wiki).host;
const identity: Readonly<Record<string, string>> = {
  'x-forwarded-user': ada.sub,
  'x-forwarded-preferred-username': ada.preferred_username,
  'x-forwarded-email': ada.email,
  'x-forwarded-groups': ada.groups.join(),
};

let application: Application;
for (const [name, kind] of Object.entries(browserGuards(() => application.port))) {
  const { describe } = needsPrograms(kind.program);

  describe(`${name}, configured as in deploy, in front of a resource that opens to browsers`, () => {
    let relay: DoorRelay;
    let proxy: Balancer;
    let person: DoorBrowser;

    before('start them', async () => {
      [relay, application] = await Promise.all([DoorRelay.start(settings), startApplication()]);
      relay.provider.knows(json(ada));
      proxy = await Balancer.start(kind, [relay.port]);
    });
    beforeEach(() => {
      application.heads.length = 0;
      application.uploads.length = 0;
      person = relay.person(proxy.port);
    });
    after('stop them', async () => {
      await proxy.stop();
      await Promise.all([relay.stop(), application.close()]);
    });

    /**
     * The only request that passed, as the application got it. It contains the identity from the relay, and no other
     * identity.
     */
    function expectPassed(): { readonly line: string; readonly headers: Readonly<Record<string, string>> } {
      expect(application.heads).to.have.lengthOf(1);
      const [head = ''] = application.heads;
      return { line: head.slice(0, head.indexOf('\r\n')), headers: expectIdentity(head) };
    }

    function expectIdentity(head: string, sent = ''): Readonly<Record<string, string>> {
      const headers = Object.fromEntries(headersIn(head).map(([header, value]) => [header.toLowerCase(), value]));
      expect(headers, sent).to.include(identity);
      expect(head, sent).not.to.match(new RegExp(`${claim}|authorization|lr_`, 'i'));
      return headers;
    }

    /** Logs the person in, and forgets what the application got meanwhile. */
    async function logInPerson(): Promise<void> {
      await person.visit(`${wiki}/`);
      application.heads.length = 0;
    }

    const cookieLine = () => person.jar.headerFor(new URL(wiki));

    for (const path of [
      '/notes/a%20b?c=d&e=%2f%25',
      '//evil.example/x',
      `/${'n'.repeat(900)}?m`,
      '/a?next=https://evil.example/&back=%5Cevil.example',
    ]) {
      it(`logs a browser in that opens ${path.slice(0, 60)}, and it is back there, to the letter`, async () => {
        const page = await person.visit(wiki + path);
        expect([page.status, page.text]).to.deep.equal([200, 'ok']);
        expect(page.url.href).to.equal(new URL(wiki + path).href);
        // Itself, the start, the provider's callback, the door's callback in two steps, and itself again.
        expect(person.trail).to.have.lengthOf(6);
        expect(person.logins).to.equal(1);
        expect(expectPassed().line).to.equal(`GET ${path} HTTP/1.1`);
      });
    }

    it('passes the cookies of the application, and none of the relay, even if they are large', async () => {
      await logInPerson();
      const large = 'v'.repeat(6000);
      person.cookies(wiki).set('theme', 'dark');
      person.cookies(wiki).set('large', large);
      expect((await person.open(`${wiki}/`, fetching)).status).to.equal(200);
      expect(expectPassed().headers['cookie']).to.equal(`theme=dark; large=${large}`);
    });

    it('logs a person in who is in so many groups that the cookie is split, and names all of them', async () => {
      const groups = Array.from({ length: 90 }, (_, index) => `${'é'.repeat(18)}-${index}`);
      relay.provider.knows(json({ ...ada, groups }));
      try {
        expect((await person.visit(`${wiki}/`)).text).to.equal('ok');
        expect([...person.cookies(wiki).keys()].filter((cookie) => cookie.includes('lr_door.'))).to.have.length.above(
          0,
        );
        const head = headersIn(application.heads.at(-1) ?? '');
        const shown = head.find(([header]) => /^x-forwarded-groups$/i.test(header))?.[1];
        expect(shown).to.equal(groups.map(encodeURIComponent).join());
      } finally {
        relay.provider.knows(json(ada));
      }
    });

    it('sends no cookie to the application if there is only a cookie of the relay', async () => {
      await logInPerson();
      await person.open(`${wiki}/`);
      expect(expectPassed().headers['cookie'] ?? '').to.equal('');
    });

    // nginx removes a header by its full name alone.
    const claimed = forgeries(name !== 'nginx');
    it(`shows the application none of ${claimed.length} identities that a page claims`, async () => {
      await logInPerson();
      const requests = claimed.map((forgery) => {
        // A token would take precedence over the cookie.
        const own = forgery.filter(([header]) => !/^authorization$/i.test(header));
        const lines = [...own, ...fetching, ['Cookie', cookieLine()]].map((header) => `${header.join(': ')}\r\n`);
        return `GET /x HTTP/1.1\r\nHost: ${host}\r\n${lines.join('')}\r\n`;
      });
      const answers = await pipelined(proxy.port, requests);
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(application.heads).to.have.lengthOf(requests.length);
      for (const [index, head] of application.heads.entries()) expectIdentity(head, requests[index]);
    });

    it('lets Connection remove neither the identity nor the cookies', async () => {
      await logInPerson();
      person.cookies(wiki).set('theme', 'dark');
      const connection = await RawConnection.open(proxy.port);
      const names = 'close, Cookie, X-Forwarded-User, X-Forwarded-Groups, X-Forwarded-Method, Sec-Fetch-Site';
      const lines = [['Host', host], ['Connection', names], ...fetching, ['Cookie', cookieLine()]];
      connection.say(`GET /x HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`);
      await connection.closed;
      if (application.heads.length > 0) expect(expectPassed().headers['cookie']).to.match(/^theme=dark$/);
      else expect(connection.heard).to.match(/^HTTP\/1\.1 40[013] /);
    });

    it('answers a program and a script with the challenge, once, and no redirect', async () => {
      const { status, headers, rawHeaders, body } = await person.open(`${wiki}/api`, fetching);
      expect([status, headers['location'], headers['set-cookie']]).to.deep.equal([401, undefined, undefined]);
      const challenges = rawHeaders.filter((_, at) => /^www-authenticate$/i.test(rawHeaders[at - 1] ?? ''));
      expect(challenges).to.deep.equal([`Bearer resource_metadata="${wiki}/.well-known/oauth-protected-resource/"`]);
      expect(JSON.parse(`${body}`)).to.include({ error: 'invalid_token' });
      expect(application.heads).to.deep.equal([]);
    });

    it('leads to the login by a page if a page of the application led to the address', async () => {
      const page = await person.open(`${wiki}/search?q=x`, navigationWith('Sec-Fetch-Site', 'same-origin'));
      expect([page.status, page.headers['location']]).to.deep.equal([401, undefined]);
      const [, link = ''] = /<a href="([^"]+)">Go to the login/.exec(`${page.body}`) ?? [];
      const shown = await person.visit(link.replaceAll('&amp;', '&'));
      expect([shown.url.href, shown.text]).to.deep.equal([`${wiki}/search?q=x`, 'ok']);
    });

    it('asks for a login before a form is sent, and passes it after that', async () => {
      const before = await person.open(`${wiki}/form`, navigationWith('Sec-Fetch-Site', 'same-origin'), 'POST', 'a=b');
      expect([before.status, before.headers['location']]).to.deep.equal([401, undefined]);
      expect(`${before.body}`).to.include('<title>Log in, then send again</title>');
      await logInPerson();
      const own: [string, string][] = [...navigationWith('Sec-Fetch-Site', 'same-origin'), ['Origin', wiki]];
      expect((await person.open(`${wiki}/upload`, own, 'POST', 'a=b')).status).to.equal(200);
      expect(application.uploads.at(-1)).to.match(/^POST \/upload HTTP\/1\.1\r\n[\s\S]*\r\n\r\na=b$/);
    });

    it('refuses what a page of a sibling host sends, whatever it claims of itself', async () => {
      await logInPerson();
      const foreign: readonly (readonly Header[])[] = [
        [...navigationWith('Sec-Fetch-Site', 'same-site')],
        [['X-Forwarded-Method', 'GET'], ...navigationWith('Sec-Fetch-Site', 'same-site')],
        [['X-Forwarded-Method', 'GET'], ['X-Forwarded-Uri', '/'], ...navigation],
        [['X-HTTP-Method-Override', 'GET'], ...navigation],
        [['Origin', 'https://evil.example.com']],
        [],
      ];
      for (const headers of foreign) {
        const sent = headers.map(([header, value]): [string, string] => [header, value]);
        const { status } = await person.open(`${wiki}/form`, sent, 'POST', 'a=b');
        expect(status, JSON.stringify(headers)).to.equal(403);
      }
      const image: [string, string][] = [
        ['Sec-Fetch-Site', 'cross-site'],
        ['Sec-Fetch-Mode', 'no-cors'],
        ['Sec-Fetch-Dest', 'image'],
      ];
      expect((await person.open(`${wiki}/x`, image)).status).to.equal(403);
      expect(application.heads).to.deep.equal([]);
    });

    it('opens to an agent with a token at the same address', async () => {
      const { access_token: token } = tokensOf(await logIn(relay, { ...ofApp, resource: `${wiki}/` }));
      const ask = async (authorization: string) =>
        await send(proxy.port, { path: '/x', authority: host, headers: [['Authorization', authorization]] });
      expect((await ask(`Bearer ${token}`)).status).to.equal(200);
      expectPassed();
      application.heads.length = 0;
      expect((await ask('Bearer bad')).status).to.equal(401);
      await logInPerson();
      const both: [string, string][] = [...fetching, ['Authorization', 'Bearer bad']];
      expect((await person.open(`${wiki}/x`, both)).status).to.equal(401);
      expect(application.heads).to.deep.equal([]);
    });

    it('opens a WebSocket for its own pages, and not for pages of other sites', async () => {
      await logInPerson();
      const open = async (origin: string) => {
        const connection = await RawConnection.open(proxy.port);
        const lines = [
          ['Host', host],
          ['Connection', 'Upgrade'],
          ['Upgrade', 'websocket'],
          ['Origin', origin],
          ['Sec-WebSocket-Version', '13'],
          ['Sec-WebSocket-Key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
          ['Sec-Fetch-Site', origin === wiki ? 'same-origin' : 'same-site'],
          ['Cookie', cookieLine()],
        ];
        connection.say(`GET /socket HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`);
        await connection.hear('\r\n\r\n');
        return connection;
      };
      const foreign = await open('https://evil.example.com');
      expect(foreign.heard).to.match(/^HTTP\/1\.1 403 /);
      foreign.close();
      expect(application.heads).to.deep.equal([]);
      const own = await open(wiki);
      expect(own.heard).to.match(/^HTTP\/1\.1 101 /);
      await own.say('frame').hear('frame');
      own.close();
      expectPassed();
    });

    it('says who is logged in, and logs out', async () => {
      await logInPerson();
      const user = await person.open(`${wiki}/.login-relay/user`, fetching);
      expect(JSON.parse(`${user.body}`)).to.include({ sub: ada.sub });
      const own: [string, string][] = [...navigationWith('Sec-Fetch-Site', 'same-origin'), ['Origin', wiki]];
      const copy = cookieLine();
      expect((await person.open(`${wiki}/.login-relay/logout`, own, 'POST', '')).status).to.equal(303);
      expect(cookieLine()).to.equal('');
      const copied: [string, string][] = [...fetching, ['Cookie', copy]];
      expect((await person.open(`${wiki}/x`, copied)).status).to.equal(401);
      expect(application.heads).to.deep.equal([]);
    });

    it('tells a browser that refuses cookies so, and sends it round no circle', async () => {
      person.keepsCookie = (cookie, at) => at !== host || cookie.includes('_login');
      const page = await person.visit(`${wiki}/`);
      expect(page.status).to.be.oneOf([400, 403, 503]);
      expect(page.text).to.include('<!doctype html>').and.include('cookie');
      expect(person.logins).to.equal(1);
      expect(application.heads).to.deep.equal([]);
    });

    it('shows a page after a single login, if it does not send the paths of the relay to the relay', async () => {
      const mistakes: Readonly<Record<string, readonly Replacement[]>> = checkingRelayPaths;
      const mistaken = {
        ...kind,
        replacements: (site: Site) => [...(mistakes[name] ?? []), ...kind.replacements(site)],
      };
      const mistakenProxy = await Balancer.start(mistaken, [relay.port]);
      const one = relay.person(mistakenProxy.port);
      const page = await one.visit(`${wiki}/notes`).finally(() => mistakenProxy.stop());
      expect(page.status).to.equal(401);
      expect(page.text).to.include('Logins cannot end here');
      expect(one.logins).to.equal(1);
      expect(application.heads).to.deep.equal([]);
    });

    it('passes nothing while no relay answers', async () => {
      await logInPerson();
      await relay.stop();
      expect((await person.open(`${wiki}/`)).status).to.be.oneOf([502, 503]);
      expect(application.heads).to.deep.equal([]);
    });
  });
}
