import type { AccessAnswers, LookupRefusal, Preset } from './provider.ts';

const primaryEmail = {
  kind: 'values',
  fields: ['email'],
  verified: 'verified',
  primary: 'primary',
} as const;

// https://docs.github.com/en/rest/orgs/members, /rest/teams/members, /rest/teams/teams, /rest/users/emails
const githubAccess: AccessAnswers = {
  users: { kind: 'values', fields: ['id'], name: 'login' },
  organizations: {
    kind: 'membership',
    ask: 'user/memberships/orgs/:organization',
    state: 'active',
    scope: 'read:org|write:org|admin:org',
  },
  teams: {
    kind: 'membership',
    ask: 'orgs/:organization/teams/:team/memberships/:login',
    state: 'active',
    scope: 'read:org|write:org|admin:org',
    list: {
      kind: 'values',
      from: 'user/teams?per_page=100',
      fields: ['organization.login', 'slug'],
    },
  },
  emails: { ...primaryEmail, from: 'user/emails?per_page=100', scope: 'user:email|user' },
  groups: { kind: 'cannot', why: 'GitHub has organizations and teams' },
};

// https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api
const githubRefusals: readonly LookupRefusal[] = [
  { header: 'x-github-sso', text: 'required', means: 'sso_required' },
  { text: 'organization SAML enforcement', means: 'sso_required' },
  { text: 'OAuth App access restrictions', means: 'application_unapproved' },
  { text: 'IP allow list enabled', means: 'address_refused' },
];

/** The common facts of github.com and GitHub Enterprise Server. */
const githubEverywhere = {
  answerScopeSeparator: ',',
  addsEarlierScopes: true,
  // https://docs.github.com/en/apps/creating-github-apps
  appIdPrefix: 'Iv',
  cms: {
    name: 'github',
    repositoryScopes: ['repo', 'public_repo'],
    apiRoot: 'https://api.github.com',
  },
  access: githubAccess,
  lookupRefusals: githubRefusals,
} as const;

/** Without a `scope`, because the user lookup needs none. */
export const github: Preset = {
  name: 'github',
  title: 'GitHub',
  documentation: 'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
  provider: {
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    userUrl: 'https://api.github.com/user',
    tokenRequest: 'query',
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
    hintParameter: 'login',
    ...githubEverywhere,
  },
};

// https://docs.gitea.com/api/, which Forgejo shares
const giteaAccess: AccessAnswers = {
  users: { kind: 'values', fields: ['id'], name: 'login' },
  organizations: {
    kind: 'membership',
    ask: 'orgs/:organization/members/:login',
    scope: 'read:organization|write:organization',
  },
  teams: {
    kind: 'values',
    from: 'user/teams?limit=50',
    fields: ['organization.username', 'name'],
    ignoresCase: true,
    scope: 'read:organization|write:organization',
  },
  emails: { ...primaryEmail, from: 'user/emails' },
  groups: { kind: 'cannot', why: 'it has organizations and teams' },
};

/** Why Gitea and Forgejo refuse a lookup. They check the account at each call of their API. */
const giteaRefusals: readonly LookupRefusal[] = [
  { text: 'account is not activated', means: 'account_restricted' },
  { text: 'prohibited from signing in', means: 'account_restricted' },
  { text: 'must change your password', means: 'account_restricted' },
];

/** The facts about a server of Gitea or of its fork Forgejo. */
const giteaAt = (host: string) =>
  ({
    authorizeUrl: `https://${host}/login/oauth/authorize`,
    tokenUrl: `https://${host}/login/oauth/access_token`,
    userUrl: `https://${host}/api/v1/user`,
    scope: 'read:user',
    tokenRequest: 'body',
    pkce: true,
    refreshTokens: 'always',
    access: giteaAccess,
    lookupRefusals: giteaRefusals,
  }) as const;

/** Services and servers that host source code. */
export const sourceCodeHosts: readonly Preset[] = [
  github,
  {
    name: 'github-enterprise',
    title: 'GitHub Enterprise Server',
    documentation:
      'https://docs.github.com/en/enterprise-server@latest/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
    host: { meaning: 'host of your GitHub Enterprise Server' },
    provider: {
      authorizeUrl: 'https://{host}/login/oauth/authorize',
      tokenUrl: 'https://{host}/login/oauth/access_token',
      userUrl: 'https://{host}/api/v3/user',
      tokenRequest: 'body',
      pkce: false,
      refreshTokens: 'never',
      // https://docs.github.com/en/enterprise-server@latest/rest/apps/oauth-applications#delete-an-app-token
      revocation: {
        url: 'https://{host}/api/v3/applications/{clientId}/token',
        request: 'github',
        takes: 'access_token',
      },
      ...githubEverywhere,
    },
  },
  {
    name: 'gitlab',
    title: 'GitLab',
    documentation: 'https://docs.gitlab.com/api/oauth2/',
    host: { meaning: 'host of your GitLab server', default: 'gitlab.com' },
    provider: {
      authorizeUrl: 'https://{host}/oauth/authorize',
      tokenUrl: 'https://{host}/oauth/token',
      userUrl: 'https://{host}/api/v4/user',
      scope: 'read_user',
      tokenRequest: 'body',
      pkce: true,
      refreshTokens: 'always',
      revocation: { url: 'https://{host}/oauth/revoke', request: 'rfc7009' },
      cms: { name: 'gitlab', repositoryScopes: ['api'], apiRoot: 'https://gitlab.com/api/v4' },
      lookupRefusals: [
        { text: 'must accept the Terms of Service', means: 'account_restricted' },
        { text: 'account has been blocked', means: 'account_restricted' },
      ],
      // https://docs.gitlab.com/integration/openid_connect_provider/
      access: {
        users: { kind: 'values', fields: ['id'], name: 'username' },
        organizations: { kind: 'cannot', why: 'GitLab has groups' },
        emails: {
          kind: 'values',
          from: '../../oauth/userinfo',
          fields: ['email'],
          verified: 'email_verified',
          scope: 'openid email',
        },
        groups: {
          kind: 'values',
          from: '../../oauth/userinfo',
          fields: ['groups'],
          ignoresCase: true,
          scope: 'openid',
        },
      },
    },
  },
  {
    name: 'gitea',
    title: 'Gitea',
    documentation: 'https://docs.gitea.com/development/oauth2-provider',
    host: { meaning: 'host of your Gitea server' },
    provider: giteaAt('{host}'),
  },
  {
    name: 'forgejo',
    title: 'Forgejo',
    documentation: 'https://forgejo.org/docs/latest/user/oauth2-provider/',
    host: { meaning: 'host of your Forgejo server' },
    provider: giteaAt('{host}'),
  },
  {
    name: 'codeberg',
    title: 'Codeberg',
    documentation: 'https://forgejo.org/docs/latest/user/oauth2-provider/',
    provider: giteaAt('codeberg.org'),
  },
  {
    name: 'bitbucket',
    title: 'Bitbucket Cloud',
    documentation: 'https://developer.atlassian.com/cloud/bitbucket/oauth-2/',
    provider: {
      authorizeUrl: 'https://bitbucket.org/site/oauth2/authorize',
      tokenUrl: 'https://bitbucket.org/site/oauth2/access_token',
      userUrl: 'https://api.bitbucket.org/2.0/user',
      scope: 'account',
      tokenRequest: 'basic',
      pkce: false,
      refreshTokens: 'always',
      cms: {
        name: 'bitbucket',
        repositoryScopes: ['repository:write', 'repository:admin'],
        apiRoot: 'https://api.bitbucket.org/2.0',
      },
      access: { users: { kind: 'values', fields: ['account_id'] } },
    },
  },
];
