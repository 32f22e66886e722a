import type { AccessAnswers, Preset } from './provider.ts';

/** The claims of OpenID Connect. @see OpenID Connect Core 1.0 §5.1 */
export const openidAccess = {
  users: { kind: 'values', fields: ['sub'] },
  emails: { kind: 'values', fields: ['email'], verified: 'email_verified', scope: 'email' },
  groups: { kind: 'values', fields: ['groups'], scope: 'groups' },
} as const satisfies AccessAnswers;

/** Servers that an organization runs, or rents, for its own people. */
export const identityServers: readonly Preset[] = [
  {
    name: 'keycloak',
    title: 'Keycloak',
    documentation: 'https://www.keycloak.org/securing-apps/oidc-layers',
    host: { meaning: 'host of your Keycloak server, with its path if it has one' },
    tenant: { meaning: 'name of the realm' },
    provider: {
      authorizeUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/auth',
      tokenUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/token',
      userUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/userinfo',
      scope: 'openid profile',
      tokenRequest: 'basic',
      pkce: true,
      refreshTokens: 'always',
      revocation: {
        url: 'https://{host}/realms/{tenant}/protocol/openid-connect/revoke',
        request: 'rfc7009',
      },
      logoutUrl: 'https://{host}/realms/{tenant}/protocol/openid-connect/logout?client_id={clientId}',
      accountPrompt: 'login',
      // A mapper adds the groups, with any scope.
      access: { ...openidAccess, groups: { kind: 'values', fields: ['groups'] } },
    },
  },
  {
    name: 'auth0',
    title: 'Auth0',
    documentation: 'https://auth0.com/docs/api/authentication',
    host: { meaning: 'your Auth0 domain, or your own one' },
    provider: {
      authorizeUrl: 'https://{host}/authorize',
      tokenUrl: 'https://{host}/oauth/token',
      userUrl: 'https://{host}/userinfo',
      scope: 'openid profile',
      tokenRequest: 'body',
      pkce: true,
      refreshTokens: 'by-setting',
      refreshRequest: { scope: 'offline_access' },
      revocation: { url: 'https://{host}/oauth/revoke', request: 'rfc7009', takes: 'refresh_token' },
      logoutUrl: 'https://{host}/v2/logout?client_id={clientId}',
      accountPrompt: 'login',
      access: {
        ...openidAccess,
        // Only an action of the tenant adds such a claim, whose name `groups-claim` has to give.
        groups: { kind: 'values', fields: [] },
      },
    },
  },
  {
    name: 'okta',
    title: 'Okta',
    documentation: 'https://developer.okta.com/docs/api/openapi/okta-oauth/oauth',
    host: { meaning: 'your Okta domain' },
    provider: {
      authorizeUrl: 'https://{host}/oauth2/v1/authorize',
      tokenUrl: 'https://{host}/oauth2/v1/token',
      userUrl: 'https://{host}/oauth2/v1/userinfo',
      scope: 'openid profile',
      tokenRequest: 'basic',
      pkce: true,
      refreshTokens: 'by-setting',
      refreshRequest: { scope: 'offline_access' },
      revocation: { url: 'https://{host}/oauth2/v1/revoke', request: 'rfc7009' },
      accountPrompt: 'login',
      access: openidAccess,
    },
  },
];
