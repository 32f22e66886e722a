import type { Preset } from './provider.ts';

export const bitbucket: Preset = {
  name: 'bitbucket',
  title: 'Bitbucket Cloud',
  documentation: 'https://developer.atlassian.com/cloud/bitbucket/oauth-2/',
  authorizeUrl: 'https://bitbucket.org/site/oauth2/authorize',
  tokenUrl: 'https://bitbucket.org/site/oauth2/access_token',
  userUrl: 'https://api.bitbucket.org/2.0/user',
  scope: 'account',
  clientAuthentication: 'basic',
  pkce: false,
  refreshTokens: 'always',
  cms: {
    name: 'bitbucket',
    repositoryScopes: ['repository:write', 'repository:admin'],
    apiRoot: 'https://api.bitbucket.org/2.0',
  },
  access: { users: { fields: ['account_id'] } },
};
