import { openidAccess } from './identity-servers.ts';
import type { Preset } from './provider.ts';

/** Services where people have accounts of their own. */
export const onlineServices: readonly Preset[] = [
  {
    name: 'google',
    title: 'Google',
    documentation: 'https://developers.google.com/identity/openid-connect/openid-connect',
    provider: {
      authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenUrl: 'https://oauth2.googleapis.com/token',
      userUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
      scope: 'openid profile',
      tokenRequest: 'body',
      pkce: true,
      refreshTokens: 'always',
      // https://developers.google.com/identity/protocols/oauth2/web-server
      refreshRequest: {
        parameters: [
          ['access_type', 'offline'],
          // Otherwise, only the first login of a user gets a refresh token.
          ['prompt', 'consent'],
        ],
      },
      revocation: { url: 'https://oauth2.googleapis.com/revoke', request: 'token-only' },
      issuer: 'https://accounts.google.com',
      accountPrompt: 'select_account',
      access: {
        users: { kind: 'values', fields: ['sub'] },
        emails: openidAccess.emails,
        // The domain of a Workspace. An address at a domain does not prove an account there.
        // https://developers.google.com/identity/gsi/web/guides/verify-google-id-token
        emailDomains: { kind: 'values', fields: ['hd'], isDomain: true, verified: 'email_verified', scope: 'email' },
        organizations: {
          kind: 'cannot',
          why: 'Google has Workspaces: allow their domains by email-domains',
        },
        groups: { kind: 'cannot', why: 'the user record of Google has no groups' },
      },
    },
  },
  {
    name: 'entra',
    title: 'Microsoft Entra ID',
    documentation: 'https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow',
    tenant: { meaning: 'ID or domain of your tenant, or common, organizations or consumers' },
    provider: {
      authorizeUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
      tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
      userUrl: 'https://graph.microsoft.com/oidc/userinfo',
      scope: 'openid profile',
      tokenRequest: 'body',
      pkce: true,
      refreshTokens: 'always',
      refreshRequest: { scope: 'offline_access' },
      logoutUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/logout?client_id={clientId}',
      accountPrompt: 'select_account',
      // https://learn.microsoft.com/en-us/graph/errors
      lookupRefusals: [{ text: 'Authorization_RequestDenied', means: 'application_unapproved' }],
      // https://learn.microsoft.com/en-us/graph/api/user-list-transitivememberof
      access: {
        users: {
          kind: 'values',
          from: '../v1.0/me?$select=id',
          fields: ['id'],
          ignoresCase: true,
          scope: 'User.Read',
        },
        emails: {
          kind: 'cannot',
          why: 'Microsoft does not say that an address is verified, and administrators of any tenant can set it',
        },
        emailDomains: {
          kind: 'cannot',
          why: 'Microsoft does not say that an address is verified. Set provider-tenant to your own tenant',
        },
        organizations: { kind: 'cannot', why: 'set provider-tenant to your own tenant' },
        groups: {
          kind: 'values',
          from: '../v1.0/me/transitiveMemberOf?$select=id&$top=100',
          items: 'value',
          next: '@odata.nextLink',
          fields: ['id'],
          ignoresCase: true,
          scope: 'User.Read|GroupMember.Read.All|Directory.Read.All',
        },
      },
    },
  },
  {
    name: 'discord',
    title: 'Discord',
    documentation: 'https://docs.discord.com/developers/topics/oauth2',
    provider: {
      authorizeUrl: 'https://discord.com/oauth2/authorize',
      tokenUrl: 'https://discord.com/api/oauth2/token',
      userUrl: 'https://discord.com/api/v10/users/@me',
      scope: 'identify',
      tokenRequest: 'basic',
      pkce: true,
      refreshTokens: 'always',
      revocation: { url: 'https://discord.com/api/oauth2/token/revoke', request: 'rfc7009' },
      issuer: 'https://discord.com',
      requestHeaders: { 'user-agent': 'DiscordBot ({baseUrl}, {version})' },
      // https://docs.discord.com/developers/resources/user
      access: {
        users: { kind: 'values', fields: ['id'], name: 'username' },
        organizations: { kind: 'values', from: '@me/guilds', fields: ['id'], scope: 'guilds' },
        emails: { kind: 'values', fields: ['email'], verified: 'verified', scope: 'email' },
        groups: { kind: 'cannot', why: 'Discord has servers: allow their ids by organizations' },
      },
    },
  },
  {
    name: 'slack',
    title: 'Slack',
    documentation: 'https://docs.slack.dev/reference/methods/openid.connect.token',
    provider: {
      authorizeUrl: 'https://slack.com/openid/connect/authorize',
      tokenUrl: 'https://slack.com/api/openid.connect.token',
      userUrl: 'https://slack.com/api/openid.connect.userInfo',
      scope: 'openid profile',
      tokenRequest: 'body',
      pkce: false,
      // As oauth.v2.access answers: https://docs.slack.dev/reference/methods/oauth.v2.access
      answerScopeSeparator: ',',
      tokenAnswer: 'authed_user',
      refreshTokens: 'by-setting',
      // https://docs.slack.dev/reference/methods/auth.revoke
      revocation: {
        url: 'https://slack.com/api/auth.revoke',
        request: 'bearer',
        takes: 'access_token',
      },
      issuer: 'https://slack.com',
      userRejectedWhen: { field: 'ok', equals: false },
      // https://docs.slack.dev/authentication/sign-in-with-slack/
      access: {
        // The id of a user is unique only within a workspace.
        users: { kind: 'values', fields: ['https://slack.com/team_id', 'https://slack.com/user_id'] },
        organizations: { kind: 'values', fields: ['https://slack.com/team_id'] },
        emails: openidAccess.emails,
        groups: { kind: 'cannot', why: 'Slack has workspaces: allow their ids by organizations' },
      },
    },
  },
  {
    name: 'twitch',
    title: 'Twitch',
    documentation: 'https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/',
    provider: {
      // The user record contains name and picture only if `claims` requests each of them. @see OpenID Connect Core 1.0
      // §5.5
      authorizeUrl:
        'https://id.twitch.tv/oauth2/authorize?claims=%7B%22userinfo%22%3A%7B%22preferred_username%22%3Anull%2C%22picture%22%3Anull%7D%7D',
      tokenUrl: 'https://id.twitch.tv/oauth2/token',
      userUrl: 'https://id.twitch.tv/oauth2/userinfo',
      scope: 'openid',
      tokenRequest: 'body',
      pkce: false,
      refreshTokens: 'always',
      // https://dev.twitch.tv/docs/authentication/revoke-tokens/
      revocation: {
        url: 'https://id.twitch.tv/oauth2/revoke',
        request: 'public-client',
        takes: 'access_token',
      },
      issuer: 'https://id.twitch.tv/oauth2',
      access: { users: { kind: 'values', fields: ['sub'] } },
    },
  },
  {
    name: 'linkedin',
    title: 'LinkedIn',
    documentation:
      'https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2',
    provider: {
      authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
      tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
      userUrl: 'https://api.linkedin.com/v2/userinfo',
      scope: 'openid profile',
      tokenRequest: 'body',
      pkce: false,
      answerScopeSeparator: ',',
      refreshTokens: 'by-setting',
      access: { users: { kind: 'values', fields: ['sub'] }, emails: openidAccess.emails },
    },
  },
];
