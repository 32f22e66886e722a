import type { Preset } from './provider.ts';

// Services that host code.

const githubCms: Preset['cms'] = {
  name: 'github',
  repositoryScopes: ['repo', 'public_repo'],
  apiRoot: 'https://api.github.com',
};

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
  cms: githubCms,
};

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
  cms: githubCms,
};

export const gitlab: Preset = {
  name: 'gitlab',
  title: 'GitLab',
  documentation: 'https://docs.gitlab.com/api/oauth2/',
  host: { meaning: 'host of your GitLab server', default: 'gitlab.com' },
  authorizeUrl: 'https://{host}/oauth/authorize',
  tokenUrl: 'https://{host}/oauth/token',
  userUrl: 'https://{host}/api/v4/user',
  scope: 'read_user',
  clientAuthentication: 'body',
  pkce: true,
  refreshTokens: 'always',
  revocation: { url: 'https://{host}/oauth/revoke', request: 'rfc7009' },
  cms: { name: 'gitlab', repositoryScopes: ['api'], apiRoot: 'https://gitlab.com/api/v4' },
};

/** Forgejo began as a copy of Gitea. */
function giteaAt(host: string) {
  return {
    authorizeUrl: `https://${host}/login/oauth/authorize`,
    tokenUrl: `https://${host}/login/oauth/access_token`,
    userUrl: `https://${host}/api/v1/user`,
    scope: 'read:user',
    clientAuthentication: 'body',
    pkce: true,
    refreshTokens: 'always',
  } as const;
}

export const gitea: Preset = {
  name: 'gitea',
  title: 'Gitea',
  documentation: 'https://docs.gitea.com/development/oauth2-provider',
  host: { meaning: 'host of your Gitea server' },
  ...giteaAt('{host}'),
};

export const forgejo: Preset = {
  name: 'forgejo',
  title: 'Forgejo',
  documentation: 'https://forgejo.org/docs/latest/user/oauth2-provider/',
  host: { meaning: 'host of your Forgejo server' },
  ...giteaAt('{host}'),
};

export const codeberg: Preset = {
  name: 'codeberg',
  title: 'Codeberg',
  documentation: 'https://forgejo.org/docs/latest/user/oauth2-provider/',
  ...giteaAt('codeberg.org'),
};

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
};
