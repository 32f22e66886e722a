import { giteaAccess } from './gitea.ts';
import type { Preset } from './provider.ts';

export const codeberg: Preset = {
  name: 'codeberg',
  title: 'Codeberg',
  documentation: 'https://forgejo.org/docs/latest/user/oauth2-provider/',
  authorizeUrl: 'https://codeberg.org/login/oauth/authorize',
  tokenUrl: 'https://codeberg.org/login/oauth/access_token',
  userUrl: 'https://codeberg.org/api/v1/user',
  scope: 'read:user',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'always',
  access: giteaAccess,
};
