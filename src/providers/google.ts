import type { Preset } from './provider.ts';

export const google: Preset = {
  name: 'google',
  title: 'Google',
  documentation: 'https://developers.google.com/identity/openid-connect/openid-connect',
  authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  userUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
  scope: 'openid profile',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'always',
  // https://developers.google.com/identity/protocols/oauth2/web-server
  refreshRequest: {
    parameters: [
      ['access_type', 'offline'],
      // Otherwise only the first login of a user gets a refresh token.
      ['prompt', 'consent'],
    ],
  },
  revocation: { url: 'https://oauth2.googleapis.com/revoke', request: 'token-only' },
  issuer: 'https://accounts.google.com',
  accountPrompt: 'select_account',
  access: {
    users: { fields: ['sub'] },
    emails: { fields: ['email'], verified: 'email_verified', scope: 'email' },
    // The domain of a Workspace. An address at a domain proves no account there.
    // https://developers.google.com/identity/gsi/web/guides/verify-google-id-token
    emailDomains: { fields: ['hd'], verified: 'email_verified', scope: 'email' },
    organizations: 'Google has Workspaces: allow their domains by email-domains',
    groups: 'the user record of Google has no groups',
  },
};
