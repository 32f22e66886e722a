import type { Preset } from './provider.ts';

export const gitea: Preset = {
  name: 'gitea',
  title: 'Gitea',
  documentation: 'https://docs.gitea.com/development/oauth2-provider',
  host: { meaning: 'host of your Gitea server' },
  authorizeUrl: 'https://{host}/login/oauth/authorize',
  tokenUrl: 'https://{host}/login/oauth/access_token',
  userUrl: 'https://{host}/api/v1/user',
  scope: 'read:user',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'always',
};
