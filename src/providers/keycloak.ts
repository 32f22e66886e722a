import { openidAccess } from './openid.ts';
import type { Preset } from './provider.ts';

export const keycloak: Preset = {
  name: 'keycloak',
  title: 'Keycloak',
  documentation: 'https://www.keycloak.org/securing-apps/oidc-layers',
  host: { meaning: 'host of your Keycloak server, with its path if it has one' },
  tenant: { meaning: 'name of the realm' },
  authorizeUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/auth',
  tokenUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/token',
  userUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/userinfo',
  scope: 'openid profile',
  clientAuthentication: 'basic',
  pkce: true,
  refreshTokens: 'always',
  revocation: {
    url: 'https://{host}/realms/{tenant}/protocol/openid-connect/revoke',
    request: 'rfc7009',
  },
  logoutUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/logout',
  accountPrompt: 'login',
  // A mapper adds the groups, whatever the scope.
  access: { ...openidAccess, groups: { fields: ['groups'] } },
};
