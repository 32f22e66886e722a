import type { Preset } from './provider.ts';

export const entra: Preset = {
  name: 'entra',
  title: 'Microsoft Entra ID',
  documentation:
    'https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow',
  tenant: { meaning: 'ID or domain of your tenant, or common, organizations or consumers' },
  authorizeUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
  tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
  userUrl: 'https://graph.microsoft.com/oidc/userinfo',
  scope: 'openid profile',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'always',
  refreshRequest: { scope: 'offline_access' },
  logoutUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/logout',
};
