import type { Preset } from './provider.ts';

export const twitch: Preset = {
  name: 'twitch',
  title: 'Twitch',
  documentation: 'https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/',
  // The user record has name and picture only if `claims` requests each of them. @see OpenID Connect Core 1.0 §5.5
  authorizeUrl:
    'https://id.twitch.tv/oauth2/authorize?claims=%7B%22userinfo%22%3A%7B%22preferred_username%22%3Anull%2C%22picture%22%3Anull%7D%7D',
  tokenUrl: 'https://id.twitch.tv/oauth2/token',
  userUrl: 'https://id.twitch.tv/oauth2/userinfo',
  scope: 'openid',
  clientAuthentication: 'body',
  pkce: false,
  refreshTokens: 'always',
  // https://dev.twitch.tv/docs/authentication/revoke-tokens/
  revocation: {
    url: 'https://id.twitch.tv/oauth2/revoke',
    request: 'public-client',
    takes: 'access_token',
  },
  issuer: 'https://id.twitch.tv/oauth2',
  access: { users: { fields: ['sub'] } },
};
