import { giteaAccess } from './gitea.ts';
import type { Preset } from './provider.ts';

export const forgejo: Preset = {
  name: 'forgejo',
  title: 'Forgejo',
  documentation: 'https://forgejo.org/docs/latest/user/oauth2-provider/',
  host: { meaning: 'host of your Forgejo server' },
  authorizeUrl: 'https://{host}/login/oauth/authorize',
  tokenUrl: 'https://{host}/login/oauth/access_token',
  userUrl: 'https://{host}/api/v1/user',
  scope: 'read:user',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'always',
  access: giteaAccess,
};
