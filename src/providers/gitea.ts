import type { AccessAnswers, Preset } from './provider.ts';

// https://docs.gitea.com/api/, which Forgejo has too
const access: AccessAnswers = {
  users: { fields: ['id'], name: 'login' },
  organizations: {
    ask: 'orgs/:organization/members/:login',
    scope: 'read:organization|write:organization',
  },
  teams: {
    from: 'user/teams?limit=50',
    fields: ['organization.username', 'name'],
    ignoresCase: true,
    scope: 'read:organization|write:organization',
  },
  emails: { from: 'user/emails', fields: ['email'], verified: 'verified' },
  groups: 'it has organizations and teams',
};

/** What Gitea and Forgejo, which was made from it, have in common. */
const giteaAt = (host: string) =>
  ({
    authorizeUrl: `https://${host}/login/oauth/authorize`,
    tokenUrl: `https://${host}/login/oauth/access_token`,
    userUrl: `https://${host}/api/v1/user`,
    scope: 'read:user',
    clientAuthentication: 'body',
    pkce: true,
    refreshTokens: 'always',
    access,
  }) as const;

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
  documentation: forgejo.documentation,
  ...giteaAt('codeberg.org'),
};
