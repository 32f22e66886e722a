import { githubAccess } from './github.ts';
import type { Preset } from './provider.ts';

export const githubEnterprise: Preset = {
  name: 'github-enterprise',
  title: 'GitHub Enterprise Server',
  documentation:
    'https://docs.github.com/en/enterprise-server@latest/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
  host: { meaning: 'host of your GitHub Enterprise Server' },
  authorizeUrl: 'https://{host}/login/oauth/authorize',
  tokenUrl: 'https://{host}/login/oauth/access_token',
  userUrl: 'https://{host}/api/v3/user',
  clientAuthentication: 'body',
  pkce: false,
  tokenResponse: { scopeSeparator: ',' },
  refreshTokens: 'never',
  // https://docs.github.com/en/enterprise-server@latest/rest/apps/oauth-applications#delete-an-app-token
  revocation: {
    url: 'https://{host}/api/v3/applications/{clientId}/token',
    request: 'github',
    takes: 'access_token',
  },
  cms: {
    name: 'github',
    repositoryScopes: ['repo', 'public_repo'],
    apiRoot: 'https://api.github.com',
  },
  access: githubAccess,
};
