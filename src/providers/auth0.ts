import { openidAccess } from './openid.ts';
import type { Preset } from './provider.ts';

export const auth0: Preset = {
  name: 'auth0',
  title: 'Auth0',
  documentation: 'https://auth0.com/docs/api/authentication',
  host: { meaning: 'your Auth0 domain, or your own one' },
  authorizeUrl: 'https://{host}/authorize',
  tokenUrl: 'https://{host}/oauth/token',
  userUrl: 'https://{host}/userinfo',
  scope: 'openid profile',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'by-setting',
  refreshRequest: { scope: 'offline_access' },
  revocation: {
    url: 'https://{host}/oauth/revoke',
    request: 'rfc7009',
    takes: 'refresh_token',
  },
  logoutUrl: 'https://{host}/v2/logout',
  accountPrompt: 'login',
  access: {
    ...openidAccess,
    // Only an action of the tenant adds a claim.
    groups: { fields: [] },
  },
};
