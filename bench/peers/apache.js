// Apache with mod_auth_openidc, which opens by a JWT or by its own cookie. It stores no sessions.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { doorUrl, origin, registration } from '../registration.ts';
import { freePort, ownDirectory, serveBy } from './child-server.js';
import { ownPublicKey, ownToken } from './own-tokens.js';

const directory = ownDirectory();
const pages = join(directory, 'pages');
mkdirSync(join(pages, 'auth/check'), { recursive: true });
writeFileSync(join(pages, 'own-token'), ownToken);
writeFileSync(join(pages, 'auth/check/notes'), '');

const key = join(directory, 'key.pem');
writeFileSync(key, ownPublicKey);

const modules = [
  'mpm_event',
  'authn_core',
  'authz_core',
  'authz_user',
  'headers',
  'proxy',
  'proxy_http',
  'auth_openidc',
];
const port = await freePort();
const file = join(directory, 'apache.conf');
await serveBy(
  '/usr/sbin/apache2',
  ['-D', 'FOREGROUND', '-f', file],
  port,
  file,
  `
ServerName localhost
ServerRoot ${directory}
PidFile ${directory}/pid
DefaultRuntimeDir ${directory}
ErrorLog /dev/null
Listen 127.0.0.1:${port}
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
StartServers 1
ServerLimit 1
ThreadsPerChild 128
MaxRequestWorkers 128
ThreadLimit 128
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 120
UseCanonicalName Off
DocumentRoot ${pages}

OIDCProviderMetadataURL ${origin}/.well-known/openid-configuration
OIDCClientID ${registration.clientId}
OIDCClientSecret ${registration.clientSecret}
OIDCRedirectURI ${doorUrl}redirect
OIDCCryptoPassphrase a-passphrase-of-the-benchmark
OIDCScope openid
OIDCCookieDomain localhost
OIDCSessionType client-cookie
OIDCPKCEMethod S256
OIDCOAuthVerifyCertFiles own#${key}
OIDCOAuthRemoteUserClaim sub

<Location />
  AuthType auth-openidc
  Require valid-user
  RequestHeader unset Authorization
</Location>
<Location /own-token>
  AuthType None
  Require all granted
</Location>
ProxyPass /mcp ${origin}/mcp
`,
);
