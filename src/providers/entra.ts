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
  accountPrompt: 'select_account',
  // https://learn.microsoft.com/en-us/graph/api/user-list-transitivememberof
  access: {
    users: { from: '../v1.0/me?$select=id', fields: ['id'], ignoresCase: true, scope: 'User.Read' },
    emails:
      'Microsoft does not say that an address is verified, and administrators of any tenant can set it',
    emailDomains:
      'Microsoft does not say that an address is verified. Set provider-tenant to your own tenant',
    organizations: 'set provider-tenant to your own tenant',
    groups: {
      from: '../v1.0/me/transitiveMemberOf?$select=id&$top=100',
      items: 'value',
      next: '@odata.nextLink',
      fields: ['id'],
      ignoresCase: true,
      scope: 'User.Read|GroupMember.Read.All|Directory.Read.All',
    },
  },
};
