import { fileURLToPath } from 'node:url';
import { freePort } from '../../harness/system/free-port.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import { logIn, person, type Rig, type RunningServer, type Setup } from './rig.ts';

/**
 * Authlib's authorization server: OAuth without OpenID Connect, with metadata of RFC 8414. It accepts
 * credentials only in the header, and does not decode them.
 *
 * @see https://docs.authlib.org/en/v1.2.0/flask/2/authorization-server.html
 */
export const authlib: Rig = {
  name: 'Authlib 1.2',
  variant: 'OAuth without OpenID Connect, Basic alone',
  packages: ['python3-authlib', 'python3-flask'],
  user: { username: person.login, name: person.name },
  start,
};

const server = fileURLToPath(new URL('authlib/server.py', import.meta.url));

async function start({ registration, codeSeconds }: Setup): Promise<RunningServer> {
  const workspace = await Workspace.create();
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const issuer = `${address}/oauth`;
  const env = {
    AUTHLIB_INSECURE_TRANSPORT: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    PORT: `${port}`,
    ISSUER: issuer,
    CODE_SECONDS: `${codeSeconds}`,
    CLIENT_ID: registration.clientId,
    CLIENT_SECRET: registration.clientSecret,
    REDIRECT_URI: registration.redirectUri,
    LOGIN: person.login,
    PASSWORD: person.password,
    NAME: person.name,
  };
  try {
    await workspace.serve('/usr/bin/python3', [server], { port, host: '127.0.0.1' }, env);
  } catch (error) {
    await workspace.close();
    throw error;
  }
  return {
    issuer,
    flags: { 'user-url': `${address}/api/me`, scope: 'profile', 'token-request': 'basic-raw' },
    allow: async (page) => {
      await logIn(page);
      await page.getByLabel('Consent?').check();
      await page.getByRole('button', { name: 'Submit' }).click();
    },
    refuse: async (page) => {
      await logIn(page);
      await page.getByRole('button', { name: 'Submit' }).click();
    },
    close: () => workspace.close(),
  };
}
