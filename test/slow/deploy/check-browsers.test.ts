// `login-relay check` in front of each proxy of deploy and an application: configured as in deploy, and with each of the
// mistakes that it names.

import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ada, DoorRelay } from '../../browsers/support/door-relay.ts';
import { diagnoseFile } from '../../check/support/check.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { secretFile } from '../../harness/relay/relay-under-test.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { keyLines } from '../../harness/system/secret-file.ts';
import { trust } from '../../harness/system/trust.ts';
import { Balancer, type BalancerKind, type Replacement } from './support/balancer.ts';
import { browserGuards, checkingRelayPaths } from './support/kinds.ts';

/** How a mistake looks in the configuration of each proxy. A proxy that is left out cannot make it. */
interface Mistake {
  readonly what: string;
  readonly nginx?: readonly Replacement[];
  readonly caddy?: readonly Replacement[];
  readonly haproxy?: readonly Replacement[];
  /** Whether the relay does not know the proxy. */
  readonly isStranger?: boolean;
  /** The finding, as `verdict | message | fix`. */
  readonly paths?: RegExp;
  readonly login?: RegExp;
}

const mistakes: readonly Mistake[] = [
  { what: 'nothing', nginx: [], caddy: [], haproxy: [] },
  {
    what: 'that it passes nothing below /.login-relay/ to the relay',
    ...checkingRelayPaths,
    paths:
      /^problem \| the proxy asks the check about \/\.login-relay\/ \(status 401\), so no login can end \| let its proxy pass all below \/\.login-relay\/ to http:\/\/127\.0\.0\.1:\d+, with Host: localhost:\d+, and without the check$/,
  },
  {
    what: 'that it passes them to the application',
    nginx: [
      ['location / {', 'location /.login-relay/ { proxy_pass http://wiki_application; }\n  location / {'],
      ['(login-relay|well-known/oauth-protected-resource)', 'well-known/oauth-protected-resource'],
    ],
    caddy: [
      [' /.login-relay/*', ''],
      ['\thandle {\n', '\thandle /.login-relay/* {\n\t\treverse_proxy <application>\n\t}\n\thandle {\n'],
    ],
    haproxy: [
      ['/.well-known/oauth-protected-resource /.login-relay/', '/.well-known/oauth-protected-resource'],
      [
        '  default_backend wiki\n',
        '  use_backend open if { path_beg /.login-relay/ }\n  default_backend wiki\n\nbackend open\n  server application <application>\n',
      ],
    ],
    paths:
      /^problem \| \/\.login-relay\/user does not lead to the relay \(status 200\), so no login can end \| let its proxy pass/,
  },
  {
    what: 'that it gives the relay another Host',
    nginx: [['    proxy_set_header Host $host;', '    proxy_set_header Host relay.internal;']],
    caddy: [
      [
        'handle @relay {\n\t\treverse_proxy 127.0.0.1:8000',
        'handle @relay {\n\t\treverse_proxy 127.0.0.1:8000 {\n\t\t\theader_up Host relay.internal\n\t\t}',
      ],
    ],
    haproxy: [['backend wiki_relay\n', 'backend wiki_relay\n  http-request set-header Host relay.internal\n']],
    paths:
      /^problem \| a relay answers below \/\.login-relay\/, but does not know localhost:\d+ \| .* with Host: localhost:\d+/,
  },
  {
    what: 'that it has no place for the answers of the relay',
    nginx: [['error_page 401 403 500 = @wiki_answer;', '']],
    login:
      /^problem \| the proxy does not pass the redirect of the check \(status 500\) \| nginx: error_page 401 403 500 leads to a location that passes the request to http:\/\/127\.0\.0\.1:\d+\/auth\/answer\/wiki$/,
  },
  {
    what: 'that it drops the cookies of a redirect',
    nginx: [
      ['proxy_hide_header WWW-Authenticate;', 'proxy_hide_header WWW-Authenticate; proxy_hide_header Set-Cookie;'],
    ],
    caddy: [['header -Server', 'header -Server\n\theader -Set-Cookie']],
    haproxy: [['backend wiki\n', 'backend wiki\n  http-after-response del-header Set-Cookie\n']],
    login:
      /^problem \| of 3 cookies of a login, 3 did not arrive as they were sent \| let its proxy pass each Set-Cookie of the relay to the browser, unchanged$/,
  },
  {
    what: 'that it does not say which page is asked for',
    nginx: [['    proxy_set_header X-Forwarded-Uri $request_uri;\n', '']],
    caddy: [['header_up -Upgrade', 'header_up -Upgrade\n\t\t\t\theader_up -X-Forwarded-Uri']],
    login:
      /^problem \| the check does not learn what the browser asks for \(status 400\) \| .*X-Forwarded-Uri.*trusted-proxies$/,
  },
  {
    what: 'that the relay does not know it',
    nginx: [],
    caddy: [],
    haproxy: [],
    isStranger: true,
    login:
      /^problem \| the check does not learn what the browser asks for \(status 400\) \| .*X-Forwarded-Uri.*trusted-proxies$/,
  },
  {
    what: 'that it asks nobody',
    nginx: [['    auth_request /_check_wiki;\n', '']],
    caddy: [[/\t\t\tforward_auth[\s\S]*?\n\t\t\t\}\n/g, '']],
    haproxy: [
      [/ {2}http-request lua\.ask.*\n/g, ''],
      [/ {2}http-request return status 503 .*\n/g, ''],
    ],
    login:
      /^problem \| the application is open: it answers without a login \(status 200\) \| let its proxy ask http:\/\/127\.0\.0\.1:\d+\/auth\/check\/wiki before each request$/,
  },
];

let application: Serving;
for (const [name, kind] of Object.entries(browserGuards(() => application.port))) {
  const { describe } = needsPrograms(kind.program);

  describe(`login-relay check, in front of ${name}`, () => {
    let relay: DoorRelay;
    before('start the relay and an application', async () => {
      relay = await DoorRelay.listen();
      application = await serve((_, response) => void response.end('<!doctype html><title>Dashboard</title>'));
      relay.provider.knows(json(ada));
    });
    after('stop them', async () => {
      await Promise.all([relay.stop(), application.close()]);
    });

    /** The findings about a proxy with a mistake. */
    async function diagnosed(replacements: readonly Replacement[], isStranger: boolean) {
      const inPlace = replacements.map(
        ([from, to]): Replacement => [from, to.replace('<application>', `127.0.0.1:${application.port}`)],
      );
      const mistaken: BalancerKind = {
        ...kind,
        replacements: (site) => [...inPlace, ...kind.replacements(site)],
      };
      const proxy = await Balancer.start(mistaken, [relay.port]);
      const distrust = trust(await readFile(proxy.certificateFile, 'utf8'));
      const resources = `trusted-proxies: ${isStranger ? '[192.0.2.1]' : '[127.0.0.1]'}
resources: { wiki: { url: 'https://localhost:${proxy.tlsPort}/', browser: true } }
`;
      try {
        await relay.restart({ relay: resources, frontEnds: '  app: { origin: https://app.example }', here: true });
        const endpoints = ['authorize', 'token', 'user'].map((one) => `${one}-url: ${relay.address}/${one}`);
        const { about } = await diagnoseFile(`base-url: ${relay.address}
key-file: ${await secretFile(keyLines)}
providers: { provider: { client-id: a, client-secret: b, ${endpoints.join(', ')} } }
${resources}`);
        const of = (subject: string) => {
          const { verdict, message, fix } = about(`${subject} (wiki)`) ?? {};
          return [verdict, message, fix].join(' | ');
        };
        return {
          paths: of('paths of the relay'),
          login: of('login of browsers'),
          resource: of('resource'),
          application: of('application'),
          baseUrl: about('base URL (provider)')?.verdict,
        };
      } finally {
        distrust();
        await proxy.stop();
      }
    }

    for (const { what, isStranger = false, ...one } of mistakes) {
      const replacements = { nginx: one.nginx, caddy: one.caddy, haproxy: one.haproxy }[name];
      if (replacements === undefined) continue;
      it(`finds ${what}`, async () => {
        const found = await diagnosed(replacements, isStranger);
        expect(found.paths).to.match(one.paths ?? /^ok \| arrive at the relay \| $/);
        expect(found.login).to.match(one.login ?? /^ok \| starts, and all of its cookies arrive \| $/);
        if (one.paths === undefined && one.login === undefined) {
          expect(found.resource).to.equal('ok | asks for a token, and says where to log in | ');
        }
        expect(found.baseUrl).to.equal('ok');
        expect(found.application).to.match(/^not_checked \| .* \| let only the proxy reach it/);
      });
    }
  });
}
