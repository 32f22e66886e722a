import type { Preset } from './provider.ts';

export const discord: Preset = {
  name: 'discord',
  title: 'Discord',
  documentation: 'https://docs.discord.com/developers/topics/oauth2',
  authorizeUrl: 'https://discord.com/oauth2/authorize',
  tokenUrl: 'https://discord.com/api/oauth2/token',
  userUrl: 'https://discord.com/api/v10/users/@me',
  scope: 'identify',
  clientAuthentication: 'basic',
  pkce: true,
  refreshTokens: 'always',
  revocation: { url: 'https://discord.com/api/oauth2/token/revoke', request: 'rfc7009' },
  issuer: 'https://discord.com',
  requestHeaders: { 'user-agent': 'DiscordBot ({baseUrl}, {version})' },
  // https://docs.discord.com/developers/resources/user
  access: {
    users: { fields: ['id'], name: 'username' },
    organizations: { from: '@me/guilds', fields: ['id'], scope: 'guilds' },
    emails: { fields: ['email'], verified: 'verified', scope: 'email' },
    groups: 'Discord has servers: allow their ids by organizations',
  },
};
