import type { Preset } from './provider.ts';

export const github: Preset = {
  name: 'github',
  title: 'GitHub',
  documentation:
    'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
  authorizeUrl: 'https://github.com/login/oauth/authorize',
  tokenUrl: 'https://github.com/login/oauth/access_token',
  userUrl: 'https://api.github.com/user',
  clientAuthentication: 'query',
  pkce: true,
  tokenResponse: { scopeSeparator: ',' },
  refreshTokens: 'by-setting',
  // https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-token
  revocation: {
    url: 'https://api.github.com/applications/{clientId}/token',
    request: 'github',
    takes: 'access_token',
  },
  issuer: 'https://github.com/login/oauth',
  cms: {
    name: 'github',
    repositoryScopes: ['repo', 'public_repo'],
    apiRoot: 'https://api.github.com',
  },
};
