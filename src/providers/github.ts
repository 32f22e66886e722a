import type { AccessAnswers, Preset } from './provider.ts';

// https://docs.github.com/en/rest/orgs/members, /rest/teams/members, /rest/users/emails
export const githubAccess: AccessAnswers = {
  users: { fields: ['id'], name: 'login' },
  organizations: {
    ask: 'user/memberships/orgs/:organization',
    state: 'active',
    scope: 'read:org|write:org|admin:org',
  },
  teams: {
    ask: 'orgs/:organization/teams/:team/memberships/:login',
    state: 'active',
    scope: 'read:org|write:org|admin:org',
  },
  emails: {
    from: 'user/emails?per_page=100',
    fields: ['email'],
    verified: 'verified',
    scope: 'user:email|user',
  },
  groups: 'GitHub has organizations and teams',
};

/** What github.com and GitHub Enterprise Server have in common. */
const everywhere = {
  tokenResponse: { scopeSeparator: ',' },
  cms: {
    name: 'github',
    repositoryScopes: ['repo', 'public_repo'],
    apiRoot: 'https://api.github.com',
  },
  access: githubAccess,
} as const;

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
  refreshTokens: 'by-setting',
  // https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-token
  revocation: {
    url: 'https://api.github.com/applications/{clientId}/token',
    request: 'github',
    takes: 'access_token',
  },
  issuer: 'https://github.com/login/oauth',
  accountPrompt: 'select_account',
  ...everywhere,
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
  refreshTokens: 'never',
  // https://docs.github.com/en/enterprise-server@latest/rest/apps/oauth-applications#delete-an-app-token
  revocation: {
    url: 'https://{host}/api/v3/applications/{clientId}/token',
    request: 'github',
    takes: 'access_token',
  },
  ...everywhere,
};
