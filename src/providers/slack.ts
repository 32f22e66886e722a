import { openidAccess } from './openid.ts';
import type { Preset } from './provider.ts';

export const slack: Preset = {
  name: 'slack',
  title: 'Slack',
  documentation: 'https://docs.slack.dev/reference/methods/openid.connect.token',
  authorizeUrl: 'https://slack.com/openid/connect/authorize',
  tokenUrl: 'https://slack.com/api/openid.connect.token',
  userUrl: 'https://slack.com/api/openid.connect.userInfo',
  scope: 'openid profile',
  clientAuthentication: 'body',
  pkce: false,
  // As oauth.v2.access answers: https://docs.slack.dev/reference/methods/oauth.v2.access
  tokenResponse: { scopeSeparator: ',', nestedIn: 'authed_user' },
  refreshTokens: 'by-setting',
  // https://docs.slack.dev/reference/methods/auth.revoke
  revocation: {
    url: 'https://slack.com/api/auth.revoke',
    request: 'bearer',
    takes: 'access_token',
  },
  issuer: 'https://slack.com',
  userRejectedWhen: { field: 'ok', equals: false },
  // https://docs.slack.dev/authentication/sign-in-with-slack/
  access: {
    // The id of a user is unique in a workspace only.
    users: { fields: ['https://slack.com/team_id', 'https://slack.com/user_id'] },
    organizations: { fields: ['https://slack.com/team_id'] },
    emails: openidAccess.emails,
    groups: 'Slack has workspaces: allow their ids by organizations',
  },
};
