import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { DoorRelay } from '../browsers/support/door-relay.ts';
import { type Answer, request } from '../harness/client/request.ts';
import { type Serving, serve } from '../harness/provider/serve.ts';
import { secretFile } from '../harness/relay/relay-under-test.ts';
import { freePort } from '../harness/system/free-port.ts';
import { keyLines } from '../harness/system/secret-file.ts';
import { startedOnce } from '../harness/system/started-once.ts';
import { diagnoseFile } from './support/check.ts';

type Act = (proxy: AskingProxy, message: IncomingMessage) => Promise<Answer> | Answer;

/** A mistake of a reverse proxy. */
interface Faults {
  /** What the proxy does with a request for a path of the relay, instead of passing it on. */
  readonly ownPaths?: Act;
  /** What the proxy does with any other request, instead of asking the check. */
  readonly page?: Act;
  /** What the proxy does with the check's answer. */
  readonly passes?: (checked: Answer) => Answer;
}

const answerOf = (status: number, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: {},
  rawHeaders: Object.entries(headers).flat(),
  body: Buffer.from(status === 200 ? '<!doctype html>' : ''),
});

/** The headers of a request that the relay reads here. */
const shownOf = (headers: IncomingHttpHeaders) =>
  Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    /^(accept|sec-fetch-\w+|x-forwarded-\w+)$/.test(name) ? [[name, `${value}`]] : [],
  );

/** A reverse proxy in front of the relay and an application, which asks about each request. */
class AskingProxy {
  faults: Faults = {};
  readonly #relay: DoorRelay;
  readonly #server: Serving;

  static async start(relay: DoorRelay): Promise<AskingProxy> {
    let proxy: AskingProxy | undefined;
    const server = await serve((message, response) => void proxy?.answer(message, response));
    proxy = new AskingProxy(relay, server);
    return proxy;
  }

  private constructor(relay: DoorRelay, server: Serving) {
    this.#relay = relay;
    this.#server = server;
  }

  /** Not the host of the login. */
  get url(): string {
    return `http://localhost:${this.#server.port}/`;
  }

  async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '' } = message;
    const pass: Act = (one) => one.pass(message);
    const check: Act = (one) => one.check(message);
    const { ownPaths = pass, page = check } = this.faults;
    const isOfMetadata = url.startsWith('/.well-known/oauth-protected-resource');
    const act = isOfMetadata ? pass : url.startsWith('/.login-relay/') ? ownPaths : page;
    const { status, rawHeaders, body } = await act(this, message);
    response.writeHead(status, rawHeaders).end(body);
  }

  /** Passes a request to the relay. */
  async pass({ url: path = '', headers }: IncomingMessage, authority = headers.host ?? ''): Promise<Answer> {
    return await request(this.#relay.port, { path, authority, headers: shownOf(headers) });
  }

  /** Asks the check, and passes its answer. @param without headers that it leaves out */
  async check({ url: uri = '', headers }: IncomingMessage, without: readonly string[] = []): Promise<Answer> {
    const all = shownOf({ ...headers, 'x-forwarded-method': 'GET', 'x-forwarded-uri': uri });
    const asked = all.filter(([name]) => !without.includes(name));
    const checked = await request(this.#relay.port, { path: '/auth/check/wiki', headers: asked });
    return this.faults.passes?.(checked) ?? checked;
  }

  close = () => this.#server.close();
}

/** An answer with other cookies. */
function withCookies(
  { rawHeaders, ...answer }: Answer,
  change: (cookies: readonly string[]) => readonly string[],
): Answer {
  const isCookie = (at: number) => /^set-cookie$/i.test(rawHeaders[at - (at % 2)] ?? '');
  const cookies = rawHeaders.filter((_, at) => at % 2 === 1 && isCookie(at));
  const others = rawHeaders.filter((_, at) => !isCookie(at));
  return { ...answer, rawHeaders: [...others, ...change(cookies).flatMap((cookie) => ['Set-Cookie', cookie])] };
}

describe('login-relay check opens a resource as a browser does', () => {
  const relay = startedOnce(
    'the relay',
    () => DoorRelay.listen<DoorRelay>(),
    (one) => one.stop(),
  );
  const proxy = startedOnce(
    'the proxy',
    () => AskingProxy.start(relay()),
    (one) => one.close(),
  );
  let upstream = '';
  let areSeveral = false;
  const resources = () =>
    `{ wiki: { url: '${proxy().url}', browser: true${upstream}${areSeveral ? ', provider: [second, provider]' : ''} } }`;
  const second = () => (areSeveral ? '  second: { provider: github, client-id: c, client-secret: d }' : '');

  /** Starts the relay again. @param port of the application, if the relay itself passes requests to it */
  async function configure(port?: number): Promise<void> {
    upstream = port === undefined ? '' : `, upstream: 'http://127.0.0.1:${port}/'`;
    const relayOptions = `trusted-proxies: [127.0.0.1]\nresources: ${resources()}\n`;
    await relay().restart({
      relay: relayOptions,
      otherProviders: second(),
      frontEnds: '  app: { origin: https://app.example }',
      here: true,
    });
  }
  beforeEach('configure the relay', async () => {
    areSeveral = false;
    await configure();
  });

  /** The findings about the resource, as `verdict | message | fix`, by subject. */
  async function diagnosed(faults: Faults, baseUrl = relay().address, ofResources = resources()) {
    proxy().faults = faults;
    const endpoints = ['authorize', 'token', 'user'].map((name) => `${name}-url: ${relay().address}/${name}`);
    const { about, report } = await diagnoseFile(`base-url: ${baseUrl}
key-file: ${await secretFile(keyLines)}
trusted-proxies: [127.0.0.1]
providers:
  provider:
    client-id: a
    client-secret: b
    ${endpoints.join('\n    ')}
${second()}
resources: ${ofResources}
`);
    const ofBaseUrl = Object.values(about('base URL (provider)') ?? {}).join(' | ');
    const of = (subject: string) => {
      const { verdict, message, fix } = about(`${subject} (wiki)`) ?? {};
      return [verdict, message, fix].join(' | ');
    };
    return { paths: of('paths of the relay'), login: of('login of browsers'), of, ofBaseUrl, report };
  }

  it('and says whether the address of its login reaches a relay, if nobody else logs in', async () => {
    expect((await diagnosed({})).ofBaseUrl).to.match(/ok.*reaches a relay with logins of browsers/);
    const application = await serve((_, response) => void response.end('ok'));
    try {
      const elsewhere = await diagnosed({}, `http://127.0.0.1:${application.port}`);
      expect(elsewhere.ofBaseUrl).to.match(
        /problem.*what answers at \/auth\/provider\/door\/wiki is not a relay \(status 200\).*let the proxy pass that path to the relay/,
      );
    } finally {
      await application.close();
    }
    const renamed = await diagnosed({}, relay().address, resources().replace('wiki:', 'notes:'));
    expect(renamed.ofBaseUrl).to.match(
      /problem.*a relay answers at \/auth\/provider\/door\/notes, but has no login there/,
    );
    const nobody = await diagnosed({}, `http://127.0.0.1:${await freePort()}`);
    expect(nobody.ofBaseUrl).to.match(/not_checked.*nothing listens.*start the relay/);
  });

  const clientsAlone =
    '\nfront-ends: { programs: { kind: native, clients: { registration: true }, refresh-tokens: bearer, resources: [wiki] } }';

  it('and says so if the first front end names no page with which a login could be started', async () => {
    const withClients = resources() + clientsAlone;
    expect((await diagnosed({}, undefined, withClients)).ofBaseUrl).to.match(/ok.*a relay with logins of browsers/);
    const application = await serve((_, response) => void response.writeHead(404).end());
    try {
      const elsewhere = await diagnosed({}, `http://127.0.0.1:${application.port}`, withClients);
      expect(elsewhere.ofBaseUrl).to.match(/problem.*\/auth\/provider\/door\/wiki is not a relay \(status 404\)/);
    } finally {
      await application.close();
    }
    const withoutBrowsers = withClients.replace(', browser: true', '');
    expect((await diagnosed({}, undefined, withoutBrowsers)).ofBaseUrl).to.match(
      /not_checked.*name no page and no redirect URI.*get a token with one of its clients/,
    );
  });

  // No resolver asks for a label of more than 63 characters, so the test needs none.
  const noHost = `${'w'.repeat(64)}.example`;
  const unreached: readonly (readonly [what: string, url: string, own: string, said: RegExp])[] = [
    [
      'its name cannot be resolved',
      `https://${noHost}/`,
      '',
      /^warning \| browsers have to reach it, .*cannot be resolved \(w+\.example\) \| start its proxy, or correct its url/,
    ],
    [
      'its name is misspelt, and the relay itself is there',
      `https://${noHost}/`,
      'upstream',
      /^warning \| browsers have to reach it/,
    ],
    ['it is on this machine, and stopped', 'http://wiki.localhost:9/', '', /^warning .* \| start its proxy/],
  ];
  for (const [what, url, own, said] of unreached) {
    it(`and says what is wrong if ${what}`, async () => {
      const more = own === '' ? '' : `, ${own}: 'http://127.0.0.1:${await freePort()}/'`;
      const { of } = await diagnosed({}, undefined, `{ wiki: { url: '${url}', browser: true${more} } }`);
      expect(of('resource')).to.match(said);
    });
  }

  it('and is content with a proxy that leads it to the login', async () => {
    const { paths, login, of, report } = await diagnosed({});
    expect(paths).to.equal('ok | arrive at the relay | ');
    expect(login).to.equal('ok | starts, and all of its cookies arrive | ');
    expect(of('resource')).to.equal('ok | asks for a token, and says where to log in | ');
    expect(of('application')).to.match(/^not_checked \| whether others reach it .*\| let only the proxy reach it/);
    // Each login has its own ticket.
    expect(JSON.stringify(report)).not.to.match(/state=/);
  });

  it('and is content if the proxy leads it to the choice of its provider', async () => {
    areSeveral = true;
    await configure();
    const { paths, login, of } = await diagnosed({});
    expect(paths).to.match(/^ok /);
    expect(login).to.equal('ok | starts, and all of its cookies arrive | ');
    expect(of('resource metadata')).to.match(/^ok /);
    const half = (checked: Answer) => withCookies(checked, (cookies) => cookies.slice(1));
    expect((await diagnosed({ passes: half })).login).to.match(/^problem .*of 3 cookies of a login, 1 did not arrive/);
  });

  it('and says that the relay has to be restarted if it does not know yet that there is a choice', async () => {
    areSeveral = true;
    const { login, of } = await diagnosed({});
    expect(login).to.match(
      /^problem .*sent to .*\/auth\/provider\/door\/wiki, and not to .*\/\.login-relay\/choose \|.*restart/,
    );
    expect(of('resource metadata')).to.match(/^problem .*to other logins .*restart the relay/);
  });

  const paths: readonly (readonly [what: string, ownPaths: Act, said: RegExp])[] = [
    [
      'the application has none',
      () => answerOf(404),
      /^problem .*status 404.*no login can end .*pass all below \/\.login-relay\/ to/,
    ],
    ['the application has a page for all', () => answerOf(200), /^problem .*status 200.*no login can end/],
    [
      'the proxy asks the check about them, too',
      (one, message) => one.check(message),
      /^problem .*asks the check about \/\.login-relay\/ \(status 401\).*without the check/,
    ],
    [
      'the proxy changes the host',
      (one, message) => one.pass(message, 'relay.internal'),
      /^problem .*does not know localhost:\d+ .*with Host: localhost:\d+/,
    ],
    ['something else asks for a login', () => answerOf(401, { 'WWW-Authenticate': 'Basic' }), /^problem .*status 401/],
  ];
  for (const [what, ownPaths, said] of paths) {
    it(`and says what is wrong with the relay's own paths if ${what}`, async () => {
      const found = await diagnosed({ ownPaths });
      expect(found.paths).to.match(said);
      expect(found.login).to.match(/^ok /);
    });
  }

  const without =
    (...names: string[]): Act =>
    (one, message) =>
      one.check(message, names);
  const pages: readonly (readonly [what: string, faults: Faults, said: RegExp])[] = [
    [
      'the application is open',
      { page: () => answerOf(200) },
      /^problem .*is open.*status 200.*ask .*\/auth\/check\/wiki /,
    ],
    [
      'the application is open, and knows no such page',
      { page: () => answerOf(404) },
      /^problem .*is open.*status 404/,
    ],
    [
      'the application has a login of its own',
      { page: () => answerOf(302, { Location: '/login?next=secret' }) },
      /^problem .*sent to http:\/\/localhost:\d+\/login, and not to .*\/auth\/provider\/door\/wiki \| (?!.*secret)/,
    ],
    ['it leads nowhere', { page: () => answerOf(302, { Location: 'http://[' }) }, /^problem .*sent to nowhere,/],
    [
      'the proxy passes all to the relay',
      { page: (one, message) => one.pass(message) },
      /^problem .*a relay answers, but does not open it to browsers .*\/auth\/check\/wiki before .*compare the name at the end .*has wiki\)/,
    ],
    [
      'the proxy hides that a page is opened',
      { page: without('accept', 'sec-fetch-mode', 'sec-fetch-dest') },
      /^problem .*401 as a program does.*Accept, Sec-Fetch-Mode and Sec-Fetch-Dest/,
    ],
    [
      'the proxy does not say which page',
      { page: without('x-forwarded-uri') },
      /^problem .*\(status 400\).*X-Forwarded-Uri.*trusted-proxies/,
    ],
    [
      'the proxy cannot pass a redirect',
      { passes: () => answerOf(500) },
      /^problem .*status 500.*error_page.*\/auth\/answer\/wiki$/,
    ],
    ['the proxy asks nobody, and refuses', { page: () => answerOf(403) }, /^problem .*gets no login \(status 403\)/],
    ['no relay answers it', { page: () => answerOf(502) }, /^warning .*does not work now \(status 502\)/],
    [
      'the proxy passes the last cookie alone',
      { passes: (checked) => withCookies(checked, (cookies) => cookies.slice(-1)) },
      /^problem .*of 3 cookies of a login, 2 did not arrive.*each Set-Cookie/,
    ],
    [
      'the proxy passes the first cookie alone',
      { passes: (checked) => withCookies(checked, (cookies) => cookies.slice(0, 1)) },
      /^problem .*of 3 cookies of a login, 2 did not arrive/,
    ],
    [
      'the proxy passes no cookie',
      { passes: (checked) => withCookies(checked, () => []) },
      /^problem .*of 3 .* 3 did not/,
    ],
    [
      'the proxy changes the path of cookies',
      {
        passes: (checked) =>
          withCookies(checked, (cookies) => cookies.map((one) => one.replace('Path=/', 'Path=/wiki'))),
      },
      /^problem .*of 3 .* 3 did not arrive as they were sent/,
    ],
  ];
  for (const [what, faults, said] of pages) {
    it(`and says what is wrong if ${what}`, async () => {
      const found = await diagnosed(faults);
      expect(found.login).to.match(said);
      expect(found.paths).to.match(/^ok /);
    });
  }

  it('and takes cookies whose attributes a proxy has written in another way', async () => {
    const rewritten = (cookie: string) => {
      const [pair = '', ...attributes] = cookie.split('; ');
      return [pair, ...attributes.reverse().map((one) => one.toLowerCase())].join(';');
    };
    const { login } = await diagnosed({ passes: (checked) => withCookies(checked, (all) => all.map(rewritten)) });
    expect(login).to.match(/^ok /);
  });

  it('and says of an application behind the relay what fits there', async () => {
    const application = await serve((_, response) => void response.end('ok'));
    try {
      await configure(application.port);
      const passing = await diagnosed({ page: (one, message) => one.pass(message) });
      expect([passing.paths, passing.login]).to.deep.equal([
        'ok | arrive at the relay | ',
        'ok | starts, and all of its cookies arrive | ',
      ]);
      expect(passing.of('upstream')).to.match(/^ok \| answers/);
      expect(passing.report.findings.map(({ subject }) => subject)).not.to.include('application (wiki)');
      const past = await diagnosed({ page: () => answerOf(200) });
      expect(past.login).to.match(
        /^problem .*is open.* \| let its proxy pass each request to http.*, with Host: localhost:/,
      );
      const trouble = await diagnosed({ page: () => answerOf(500) });
      expect(trouble.login).to.match(/^warning .*status 500\) \| look at the log/);
    } finally {
      await application.close();
    }
  });

  it('and says that nobody can use an application that does not run behind the relay', async () => {
    const port = await freePort();
    await configure(port);
    const { of } = await diagnosed({ page: (one, message) => one.pass(message) });
    expect(of('upstream')).to.equal(
      `problem | nothing listens at the address (127.0.0.1:${port}) | start it, or correct upstream; check host and port`,
    );
  });
});
