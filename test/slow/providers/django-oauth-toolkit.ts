import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { freePort } from '../../harness/system/free-port.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import { logIn, person, type Rig, type RunningServer, type Setup } from './rig.ts';

/**
 * Django with django-oauth-toolkit. The address of its metadata ends with a slash. Django redirects the
 * address without it.
 *
 * @see https://django-oauth-toolkit.readthedocs.io/en/1.7.0/oidc.html
 */
export const djangoOauthToolkit: Rig = {
  name: 'django-oauth-toolkit 1.7',
  variant: 'PKCE demanded, metadata behind a redirect',
  packages: ['python3-django-oauth-toolkit'],
  user: { name: person.name },
  start,
};

const site = fileURLToPath(new URL('django-oauth-toolkit/site.py', import.meta.url));

async function start({ registration, codeSeconds }: Setup): Promise<RunningServer> {
  const workspace = await Workspace.create();
  const port = await freePort();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const env = {
    DATABASE: workspace.path('database'),
    SIGNING_KEY: await workspace.write('signing-key.pem', key),
    SECRET_KEY: randomBytes(32).toString('hex'),
    CODE_SECONDS: `${codeSeconds}`,
    CLIENT_ID: registration.clientId,
    CLIENT_SECRET: registration.clientSecret,
    REDIRECT_URI: registration.redirectUri,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const manage = async (...words: string[]) => await workspace.run('/usr/bin/python3', [site, ...words], env);
  try {
    await manage('migrate', '--verbosity=0');
    await manage('shell', `--command=${contents}`);
    await workspace.serve(
      '/usr/bin/python3',
      [site, 'runserver', '--noreload', `127.0.0.1:${port}`],
      { port, host: '127.0.0.1' },
      env,
    );
  } catch (error) {
    await workspace.close();
    throw error;
  }
  return {
    issuer: `http://127.0.0.1:${port}/o`,
    flags: {},
    allow: async (page) => {
      await logIn(page);
      await consent(page, page.getByRole('button', { name: 'Authorize' }));
    },
    refuse: async (page) => {
      await logIn(page);
      await page.getByRole('button', { name: 'Cancel' }).click();
    },
    close: () => workspace.close(),
  };
}

// In the tutorial, people log in at the page of the administration, which admits only staff.
const contents = `
import os
from django.contrib.auth.models import User
from oauth2_provider.models import Application
User.objects.create_user('${person.login}', password='${person.password}', is_staff=True,
    first_name='${person.name.split(' ')[0]}', last_name='${person.name.split(' ')[1]}')
Application.objects.create(name='The relay', client_type='confidential',
    authorization_grant_type='authorization-code', algorithm='RS256',
    client_id=os.environ['CLIENT_ID'], client_secret=os.environ['CLIENT_SECRET'],
    redirect_uris=os.environ['REDIRECT_URI'])
`;

/** Gives consent, unless the server remembers an earlier consent and redirects at once. */
async function consent(page: Page, button: Locator): Promise<void> {
  const { origin } = new URL(page.url());
  const asked = button.waitFor().then(() => true);
  const left = page.waitForURL((url) => url.origin !== origin).then(() => false);
  // The other promise rejects when the page closes. That does not matter.
  for (const either of [asked, left]) either.catch(() => {});
  if (await Promise.race([asked, left])) await button.click();
}
