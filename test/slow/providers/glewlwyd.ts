import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { issueCertificate } from '../../harness/system/certificate.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { person, type Rig, type RunningServer, type Setup } from './rig.ts';
import { Workspace } from './workspace.ts';

/**
 * Glewlwyd with its OpenID Connect plugin, over TLS, with a private authority.
 *
 * @see /usr/share/doc/glewlwyd/GETTING_STARTED.md.gz, OIDC.md.gz and API.md.gz of the package
 */
export const glewlwyd: Rig = rig('TLS with a private CA, nonce demanded', {});

/** The same, but it refuses authorization requests that were not pushed (RFC 9126). */
export const glewlwydPushed: Rig = rig('pushed authorization requests demanded', {
  'oauth-par-allowed': true,
  'oauth-par-required': true,
  'oauth-par-request_uri-prefix': 'urn:ietf:params:oauth:request_uri:',
  'oauth-par-duration': 90,
});

function rig(variant: string, parameters: Readonly<Record<string, unknown>>): Rig {
  return {
    name: 'Glewlwyd 2.7',
    variant,
    packages: ['glewlwyd', 'sqlite3'],
    user: { name: person.name },
    wrongTokenRequest: 'query',
    refusesExpiredCodes: true,
    hides: [],
    start: (setup) => start(setup, parameters),
  };
}

// The database of the package contains this administrator.
const administrator = { username: 'admin', password: 'password' };

async function start(
  { registration, codeSeconds }: Setup,
  parameters: Readonly<Record<string, unknown>>,
): Promise<RunningServer> {
  const workspace = await Workspace.create();
  const certificate = await issueCertificate('localhost');
  const port = await freePort();
  const address = `https://localhost:${port}`;
  const issuer = `${address}/api/oidc`;
  const close = async () => {
    await workspace.close();
    await certificate.remove();
  };
  try {
    const database = workspace.path('glewlwyd.db');
    const schema = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3';
    await workspace.run('sqlite3', [database, `.read ${schema}`]);
    await layOutPages(workspace.path('webapp'));
    const configuration = settings({
      port,
      bind_address: '127.0.0.1',
      external_url: address,
      login_url: 'login.html',
      api_prefix: 'api',
      static_files_path: workspace.path('webapp'),
      log_mode: 'console',
      log_level: 'WARNING',
      cookie_domain: 'localhost',
      cookie_secure: true,
      session_key: 'GLEWLWYD2_SESSION_ID',
      admin_scope: 'g_admin',
      profile_scope: 'g_profile',
      user_module_path: '/usr/lib/glewlwyd/user',
      user_middleware_module_path: '/usr/lib/glewlwyd/user_middleware',
      client_module_path: '/usr/lib/glewlwyd/client',
      user_auth_scheme_module_path: '/usr/lib/glewlwyd/scheme',
      plugin_module_path: '/usr/lib/glewlwyd/plugin',
      use_secure_connection: true,
      secure_connection_key_file: await workspace.write('server.key', certificate.key),
      secure_connection_pem_file: await workspace.write('server.pem', certificate.cert),
      hash_algorithm: 'SHA512',
    });
    const file = await workspace.write(
      'glewlwyd.conf',
      `${configuration}database = { type = "sqlite3"; path = "${database}"; };\n${mimeTypes}`,
    );
    await workspace.serve('glewlwyd', [`--config-file=${file}`], { port, host: 'localhost' });

    const administration = new Administration(`${address}/api/`, certificate.authority);
    await administration.post('auth/', administrator);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await administration.post('mod/plugin/', {
      module: 'oidc',
      name: 'oidc',
      display_name: 'OpenID Connect',
      parameters: {
        iss: issuer,
        'jwt-type': 'rsa',
        'jwt-key-size': '256',
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        cert: publicKey.export({ type: 'spki', format: 'pem' }),
        'access-token-duration': 3600,
        'refresh-token-duration': 1209600,
        'code-duration': codeSeconds,
        'refresh-token-rolling': false,
        'allow-non-oidc': false,
        'auth-type-code-enabled': true,
        'auth-type-refresh-enabled': true,
        'name-claim': 'mandatory',
        'pkce-allowed': true,
        'allowed-scope': ['openid'],
        ...parameters,
      },
    });
    await administration.post('user/', {
      username: person.login,
      password: person.password,
      name: person.name,
      scope: ['openid', 'g_profile'],
    });
    await administration.post('client/', {
      client_id: registration.clientId,
      name: 'The relay',
      confidential: true,
      enabled: true,
      client_secret: registration.clientSecret,
      redirect_uri: [registration.redirectUri],
      authorization_type: ['code'],
      token_endpoint_auth_method: ['client_secret_basic', 'client_secret_post'],
      scope: [],
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    issuer,
    flags: {},
    authority: certificate.authorityFile,
    allow: async (page) => {
      await logIn(page);
      await page.getByRole('button', { name: 'Continue' }).click();
    },
    close,
  };
}

async function logIn(page: Page): Promise<void> {
  await page.locator('#username').fill(person.login);
  await page.locator('#password').fill(person.password);
  await page.locator('#loginbut').click();
}

/** The pages of the package, with their configuration in the right place. */
async function layOutPages(folder: string): Promise<void> {
  await cp('/usr/share/glewlwyd/webapp', folder, { recursive: true, dereference: true });
  await rm(`${folder}/config.json`, { recursive: true });
  await cp('/usr/share/glewlwyd/templates/config.json', `${folder}/config.json`);
}

function settings(values: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
    .join('');
}

const mimeTypes = `static_files_mime_types = (${[
  ['.html', 'text/html'],
  ['.css', 'text/css'],
  ['.js', 'application/javascript'],
  ['.json', 'application/json'],
  ['.png', 'image/png'],
]
  .map(
    ([extension, type]) => `{ extension = "${extension}"; mime_type = "${type}"; compress = 0; }`,
  )
  .join(',')})\n`;

/** The programming interface for administrators. */
class Administration {
  readonly #address: string;
  readonly #agent: Agent;
  #cookie = '';

  constructor(address: string, authority: string) {
    this.#address = address;
    this.#agent = new Agent({ ca: authority });
  }

  async post(path: string, body: unknown): Promise<void> {
    const sent = request(new URL(path, this.#address), {
      method: 'POST',
      agent: this.#agent,
      headers: { 'Content-Type': 'application/json', Cookie: this.#cookie },
    });
    sent.end(JSON.stringify(body));
    const [answer]: IncomingMessage[] = await once(sent, 'response');
    if (answer?.statusCode !== 200) {
      throw new Error(`${path}: ${answer && (await text(answer))}`);
    }
    answer.resume();
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    if (cookie !== '') this.#cookie = cookie.split(';')[0] ?? '';
  }
}
