import type { Preset } from './provider.ts';

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
  // https://docs.gitlab.com/integration/openid_connect_provider/
  access: {
    users: { fields: ['id'], name: 'username' },
    organizations: 'GitLab has groups',
    emails: {
      from: '../../oauth/userinfo',
      fields: ['email'],
      verified: 'email_verified',
      scope: 'openid email',
    },
    groups: {
      from: '../../oauth/userinfo',
      fields: ['groups'],
      ignoresCase: true,
      scope: 'openid',
    },
  },
};
