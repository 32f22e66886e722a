import { expect } from 'chai';
import { ClientsRelay, jsonOf, locationOf } from '../../clients/support/clients-relay.ts';
import { granted, navigation } from '../../harness/browser/fake-browser.ts';
import { send } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { SessionPage, sessionOf, sessionOrigin } from '../../harness/login/session-page.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Workspace } from '../../harness/system/workspace.ts';

type Header = [name: string, value: string];

/** A server of nginx with these lines, in front of a relay with a session at this path. */
async function startSite(
  path: string,
  lines: (relayPort: number) => readonly string[],
  files: Record<string, string> = {},
) {
  const relay = await ClientsRelay.start({
    path,
    relay: 'trusted-proxies: 127.0.0.1\nrefused-exchanges: 10',
    frontEnds: `  app: { origin: ${sessionOrigin}, token-delivery: session }`,
  });
  relay.provider.knows(json({ sub: '42', login: 'ada' }));
  const workspace = await Workspace.create();
  for (const [name, text] of Object.entries(files)) await workspace.write(name, text);
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const config = await workspace.write(
    'nginx.conf',
    [
      `user root; daemon off; pid ${workspace.folder}/pid; error_log stderr error; events {}`,
      'http {',
      ...temporary.map((name) => `${name}_temp_path ${workspace.folder}/${name};`),
      'access_log off; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr;',
      `server { listen 127.0.0.1:${port}; root ${workspace.folder};`,
      ...lines(relay.port),
      '} }',
    ].join('\n'),
  );
  await workspace.serve('nginx', ['-c', config, '-p', workspace.folder], { host: '127.0.0.1', port });
  return {
    relay,
    port,
    async stop() {
      await workspace.close();
      await relay.stop();
    },
  };
}

/** Logs in through an nginx that adds its own headers, and returns the address at which the login ends. */
async function endOfLogin({ browser }: SessionPage, { provider }: ClientsRelay, start: string, headers = navigation) {
  const asked = locationOf(await browser.open(start, { headers: [...headers] }));
  return locationOf(await browser.open(granted(provider, asked), { headers: [...headers] })).href;
}

const { describe } = needsPrograms('nginx');

describe('a relay behind nginx', () => {
  for (const [what, target] of [
    ['keeps', ''],
    ['removes', '/'],
  ] as const) {
    it(`that ${what} its path logs in, looks up the user, and is described at both places`, async () => {
      const metadata = '/.well-known/oauth-authorization-server/sso/';
      const site = await startSite('/sso', (relay) => [
        `location /sso/ { proxy_pass http://127.0.0.1:${relay}${target}; }`,
        `location ${metadata} { proxy_pass http://127.0.0.1:${relay}; }`,
      ]);
      try {
        const page = new SessionPage(() => site, site.relay.provider);
        expect(await endOfLogin(page, site.relay, '/sso/auth/provider')).to.equal(`${sessionOrigin}/`);
        expect(sessionOf(await page.send('/sso/auth/session'))).to.include({ provider: 'provider' });
        expect(jsonOf(await page.send('/sso/api/user'))).to.include({ login: 'ada' });
        expect((await page.send('/sso/auth/logout', 'POST')).status).to.equal(200);
        for (const path of ['/sso/client.js', '/sso/healthz', '/sso/readyz', `${metadata}auth/provider`]) {
          expect((await send(site.port, { path })).status, path).to.equal(200);
        }
        expect((await send(site.port, { path: '/auth/provider' })).status).to.equal(404);
      } finally {
        await site.stop();
      }
    });
  }

  it('that asks for a password never sends it to the provider, and the session counts', async () => {
    const password = canary('secret');
    const site = await startSite(
      '',
      (relay) => [
        'auth_basic staging; auth_basic_user_file htpasswd;',
        `location / { proxy_pass http://127.0.0.1:${relay}; }`,
      ],
      { htpasswd: `ada:{PLAIN}${password}\n` },
    );
    const { provider } = site.relay;
    const gate: Header = ['Authorization', `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`];
    try {
      const page = new SessionPage(() => site, provider);
      const headers: Header[] = [...navigation, gate];
      expect(await endOfLogin(page, site.relay, '/auth/provider', headers)).to.equal(`${sessionOrigin}/`);
      expect((await page.lookUp()).status, 'without the password').to.equal(401);
      const answered = await page.lookUp({ headers: [gate] });
      expect(jsonOf(answered)).to.include({ login: 'ada' });
      for (let time = 0; time < 12; time += 1) {
        expect((await send(site.port, { path: '/api/user', headers: [gate] })).status).to.equal(401);
      }
      expect((await page.lookUp({ headers: [gate] })).status).to.equal(200);
      expect(JSON.stringify(provider.calls)).to.not.contain(password);
      expect(provider.calls.filter(({ endpoint }) => endpoint === 'user')).to.have.lengthOf(2);
    } finally {
      await site.stop();
    }
  });
});
