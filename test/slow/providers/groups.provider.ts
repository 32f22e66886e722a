import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { FakeBrowser, type Page } from '../../harness/browser/fake-browser.ts';
import type { Answer } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectRedirect, expectUser } from '../../harness/expect/expectations.ts';
import {
  encoded,
  expectOAuthError,
  oauthStart,
  redemption,
  requestToken,
} from '../../harness/login/oauth-front-end.ts';
import {
  frontendOrigin,
  loginPath,
  type Relay,
  redirectUri,
  secretFile,
  useRelays,
} from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import { needPackages } from './packages.ts';

const client = { clientId: 'the-relay', clientSecret: canary('secret') };
const password = 'analytical-engine';
const people = {
  ada: ['editors', 'staff'],
  bob: ['staff'],
  eve: ['guests', 'staff-of-guests'],
  mallory: [],
};

describe('staff by group at Glewlwyd 2.7', () => {
  const startRelay = useRelays();
  const administrator = new FakeBrowser();
  let workspace: Workspace | undefined;
  let api: string;
  let relay: Relay;

  before('start the server and the relay', async function () {
    needPackages(this, ['glewlwyd', 'sqlite3']);
    workspace = await Workspace.create();
    api = await startGlewlwyd(workspace);
    await configure(api, administrator);
    const config = await secretFile(`key-file: ${await secretFile('a line of a key file'.repeat(2))}
refresh-tokens: bearer
providers:
  provider:
    client-id: ${client.clientId}
    client-secret-file: ${await secretFile(client.clientSecret)}
    issuer: ${api}/oidc
    allow: { groups: [staff], groups-claim: memberOf }
front-ends:
  page: { origin: https://page.example, error-delivery: page }
  app: { origin: ${frontendOrigin}, token-delivery: code }
`);
    const flags = {
      config,
      origin: undefined,
      'client-id': undefined,
      'client-secret-file': undefined,
    };
    relay = await startRelay({ client, flags });
  });
  after('stop the server', async () => await workspace?.close());

  /** Logs in as the login page of the server does. Returns the page at the end. */
  async function logIn(username: string, start: string): Promise<Page> {
    const browser = new FakeBrowser(() => relay);
    const { headers } = await browser.open(expectRedirect(await browser.open(start)).href);
    const loginPage = new URL(headers.location ?? '', api);
    await call(browser, 'POST', `${api}/auth/`, { username, password });
    await call(browser, 'PUT', `${api}/auth/grant/${client.clientId}`, { scope: 'openid' });
    return await browser.visit(`${loginPage.searchParams.get('callback_url')}&g_continue`);
  }

  /** Logs in with PKCE. Returns the answer to the redemption. */
  async function redeem(username: string): Promise<Answer> {
    const start = oauthStart();
    const { url } = await logIn(username, `${loginPath}?${encoded(start.parameters)}`);
    const code = url.searchParams.get('code') ?? '';
    return await requestToken(relay, redemption({ start, location: url, code }));
  }

  async function refresh(granted: Answer): Promise<Answer> {
    const { refresh_token } = JSON.parse(`${granted.body}`);
    const parameters = { grant_type: 'refresh_token', client_id: 'app', refresh_token };
    return await requestToken(relay, parameters);
  }

  for (const username of ['ada', 'bob']) {
    it(`logs in ${username}, who is in the group`, async () => {
      const { status, body } = await redeem(username);
      expect(status, `${body}`).to.equal(200);
      const { access_token: token } = JSON.parse(`${body}`);
      const user = expectUser(await relay.userOf(token));
      expect(user).to.have.property('memberOf').that.includes('staff');
    });
  }

  for (const username of ['eve', 'mallory']) {
    it(`refuses ${username}, who is not`, async () => {
      expectOAuthError(await redeem(username), 'access_denied');
      const { status, body } = await logIn(username, loginPath);
      expect(status).to.equal(403);
      expect(`${body}`).to.contain('You are logged in as');
    });
  }

  it('ends the refresh tokens of who was removed from the group, and of nobody else', async () => {
    const [ada, bob] = [await redeem('ada'), await redeem('bob')];
    await call(administrator, 'PUT', `${api}/user/ada`, { groups: ['editors'] });
    expect((await refresh(bob)).status).to.equal(200);
    expectOAuthError(await refresh(ada), 'invalid_grant');
  });
});

/**
 * Starts Glewlwyd with the database of the package. Returns the address of its API.
 *
 * @see /usr/share/doc/glewlwyd/OIDC.md.gz, USER_DATABASE.md.gz and API.md.gz of the package
 */
async function startGlewlwyd(workspace: Workspace): Promise<string> {
  const port = await freePort();
  const database = workspace.path('glewlwyd.db');
  const schema = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3';
  const userFormat = JSON.stringify({
    'use-glewlwyd-connection': true,
    'data-format': { groups: { multiple: true, read: true, write: true } },
  });
  const changes = `UPDATE g_user_module_instance SET gumi_parameters = '${userFormat}'`;
  await workspace.run('sqlite3', [database, `.read ${schema}`, changes]);
  const modules = '/usr/lib/glewlwyd';
  const file = await workspace.write(
    'glewlwyd.conf',
    `port = ${port}
bind_address = "127.0.0.1"
external_url = "http://127.0.0.1:${port}"
log_mode = "console"
user_module_path = "${modules}/user"
client_module_path = "${modules}/client"
user_auth_scheme_module_path = "${modules}/scheme"
plugin_module_path = "${modules}/plugin"
database = { type = "sqlite3"; path = "${database}"; };
`,
  );
  await workspace.serve('glewlwyd', [`--config-file=${file}`], { port, host: '127.0.0.1' });
  return `http://127.0.0.1:${port}/api`;
}

/** Adds the OpenID Connect plugin, the relay and the people. The claim `memberOf` has their groups. */
async function configure(api: string, administrator: FakeBrowser): Promise<void> {
  await call(administrator, 'POST', `${api}/auth/`, { username: 'admin', password: 'password' });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await call(administrator, 'POST', `${api}/mod/plugin/`, {
    module: 'oidc',
    name: 'oidc',
    display_name: 'OpenID Connect',
    parameters: {
      iss: `${api}/oidc`,
      'jwt-type': 'rsa',
      'jwt-key-size': '256',
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      cert: publicKey.export({ type: 'spki', format: 'pem' }),
      'access-token-duration': 3600,
      'refresh-token-duration': 1209600,
      'code-duration': 60,
      'refresh-token-rolling': true,
      'auth-type-code-enabled': true,
      'auth-type-refresh-enabled': true,
      'pkce-allowed': true,
      'allowed-scope': ['openid'],
      claims: [{ name: 'memberOf', 'user-property': 'groups', mandatory: true }],
    },
  });
  await call(administrator, 'POST', `${api}/client/`, {
    client_id: client.clientId,
    confidential: true,
    client_secret: client.clientSecret,
    redirect_uri: [redirectUri],
    authorization_type: ['code', 'refresh_token'],
    token_endpoint_auth_method: ['client_secret_basic'],
  });
  for (const [username, groups] of Object.entries(people)) {
    const person = { username, password, groups, scope: ['openid', 'g_profile'] };
    await call(administrator, 'POST', `${api}/user/`, person);
  }
}

async function call(browser: FakeBrowser, method: string, url: string, body: object) {
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  const answer = await browser.open(url, { method, headers, body: JSON.stringify(body) });
  expect(answer.status, `${method} ${url}: ${answer.body}`).to.equal(200);
}
