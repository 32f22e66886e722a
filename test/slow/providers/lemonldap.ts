import { generateKeyPairSync } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { freePort } from '../../harness/system/free-port.ts';
import { serveWithNginx } from './nginx.ts';
import { consent } from './pages.ts';
import type { Rig, RunningServer, Setup } from './rig.ts';
import { Workspace } from './workspace.ts';

/**
 * LemonLDAP::NG with its demonstration accounts, behind nginx.
 *
 * @see idpopenidconnect.html, openidconnectservice.html and confignginx.html of lemonldap-ng-doc
 */
export const lemonldap: Rig = rig('behind nginx', {});

/** The same, but its user lookup answers with a signed JWT. */
export const lemonldapSigned: Rig = rig('signed user info', {
  oidcRPMetaDataOptionsUserInfoSignAlg: 'RS256',
});

function rig(variant: string, options: Readonly<Record<string, unknown>>): Rig {
  return {
    name: 'LemonLDAP::NG 2.16',
    variant,
    packages: [
      'nginx',
      'lemonldap-ng-fastcgi-server',
      'liblemonldap-ng-portal-perl',
      // The portal does not start without these recommended packages.
      'libgd-securityimage-perl',
      'libimage-magick-perl',
      'libstring-random-perl',
    ],
    user: { sub: 'dwho', name: 'Doctor Who' },
    wrongTokenRequest: 'basic',
    refusesExpiredCodes: true,
    hides: ['callback'],
    start: (setup) => start(setup, options),
  };
}

async function start(
  { registration, codeSeconds }: Setup,
  options: Readonly<Record<string, unknown>>,
): Promise<RunningServer> {
  const workspace = await Workspace.create();
  const port = await freePort();
  const issuer = `http://localhost:${port}/`;
  try {
    // Its server refuses to run as root, and the workers of nginx do not run as root either.
    const owner = process.getuid?.() === 0 ? { name: 'www-data', uid: 33, gid: 33 } : undefined;
    const folders = ['conf', 'cache', 'sessions', 'sessions/lock', 'psessions', 'psessions/lock'];
    for (const folder of ['.', ...folders]) {
      const path = workspace.path(folder);
      await mkdir(path, { recursive: true });
      if (owner !== undefined) await chown(path, owner.uid, owner.gid);
    }
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const configuration = {
      cfgNum: 1,
      cfgDate: 1,
      cfgAuthor: 'a test',
      cfgVersion: '2.16.1',
      portal: issuer,
      domain: 'localhost',
      authentication: 'Demo',
      userDB: 'Same',
      passwordDB: 'Demo',
      registerDB: 'Null',
      demoExportedVars: { cn: 'cn', mail: 'mail', uid: 'uid' },
      securedCookie: 0,
      whatToTrace: 'uid',
      locationRules: {},
      exportedHeaders: {},
      globalStorage: 'Apache::Session::File',
      globalStorageOptions: {
        Directory: workspace.path('sessions'),
        LockDirectory: workspace.path('sessions/lock'),
      },
      persistentStorage: 'Apache::Session::File',
      persistentStorageOptions: {
        Directory: workspace.path('psessions'),
        LockDirectory: workspace.path('psessions/lock'),
      },
      localSessionStorage: 'Cache::FileCache',
      localSessionStorageOptions: {
        namespace: 'sessions',
        default_expires_in: 600,
        cache_root: workspace.path('cache'),
      },
      issuerDBOpenIDConnectActivation: 1,
      issuerDBOpenIDConnectPath: '^/oauth2/',
      oidcServiceAllowAuthorizationCodeFlow: 1,
      oidcServiceIgnoreScopeForClaims: 1,
      oidcServiceAuthorizationCodeExpiration: codeSeconds,
      oidcServicePrivateKeySig: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      oidcServicePublicKeySig: publicKey.export({ type: 'spki', format: 'pem' }),
      oidcServiceKeyIdSig: 'key-1',
      oidcRPMetaDataOptions: {
        relay: {
          oidcRPMetaDataOptionsDisplayName: 'The relay',
          oidcRPMetaDataOptionsClientID: registration.clientId,
          oidcRPMetaDataOptionsClientSecret: registration.clientSecret,
          oidcRPMetaDataOptionsRedirectUris: registration.redirectUri,
          oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
          ...options,
        },
      },
      oidcRPMetaDataExportedVars: { relay: { name: 'cn', email: 'mail' } },
    };
    for (const [name, content] of [
      ['conf/lmConf-1.json', JSON.stringify(configuration)],
      ['lemonldap-ng.ini', initialization(workspace)],
    ] as const) {
      const path = await workspace.write(name, content);
      if (owner !== undefined) await chown(path, owner.uid, owner.gid);
    }
    const socket = workspace.path('llng.sock');
    await workspace.serve(
      'llng-fastcgi-server',
      [
        '--foreground',
        `--socket=${socket}`,
        `--pid=${workspace.path('llng.pid')}`,
        '--proc=2',
        ...(owner === undefined ? [] : [`--user=${owner.name}`, `--group=${owner.name}`]),
      ],
      { path: socket },
      {
        LLNG_DEFAULTCONFFILE: workspace.path('lemonldap-ng.ini'),
        LLNG_DEFAULTLOGGER: 'Lemonldap::NG::Common::Logger::Std',
      },
    );
    await serveWithNginx(workspace, { port, user: owner?.name, server: portal(port, socket) });
  } catch (error) {
    await workspace.close();
    throw error;
  }
  return {
    issuer,
    flags: {},
    allow: async (page) => {
      await logIn(page, 'dwho');
      await consent(page, page.getByRole('button', { name: 'Accept' }));
    },
    refuse: async (page) => {
      // Use another person, because it remembers consents.
      await logIn(page, 'rtyler');
      await page.getByRole('button', { name: 'Refuse' }).click();
    },
    close: () => workspace.close(),
  };
}

async function logIn(page: Page, account: 'dwho' | 'rtyler'): Promise<void> {
  await page.locator('[name=user]').fill(account);
  await page.locator('[name=password]').fill(account);
  await page.getByRole('button', { name: 'Connect' }).click();
}

function initialization(workspace: Workspace): string {
  return `[all]
logLevel = warn
[configuration]
type = File
dirName = ${workspace.path('conf')}
localStorage = Cache::FileCache
localStorageOptions = { 'namespace' => 'configuration', 'cache_root' => '${workspace.path('cache')}' }
[portal]
staticPrefix = /static
templateDir = /usr/share/lemonldap-ng/portal/templates
languages = en
[handler]
status = 0
`;
}

/** The server of the package's portal-nginx.conf. */
function portal(port: number, socket: string): string {
  return `listen 127.0.0.1:${port};
server_name localhost;
root /usr/share/lemonldap-ng/portal/htdocs/;
if ($uri !~ ^/((static|javascript|favicon).*|.*\\.psgi)) {
  rewrite ^/(.*)$ /index.psgi/$1 break;
}
location ~ ^(?<sc>/.*\\.psgi)(?:$|/) {
  include /etc/nginx/fastcgi_params;
  fastcgi_pass unix:${socket};
  fastcgi_param HTTP_HOST $host;
  fastcgi_param LLTYPE psgi;
  fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
  fastcgi_split_path_info ^(.*\\.psgi)(/.*)$;
  fastcgi_param PATH_INFO $fastcgi_path_info;
}
location /static/ { alias /usr/share/lemonldap-ng/portal/htdocs/static/; }
location /javascript/ { alias /usr/share/javascript/; }`;
}
