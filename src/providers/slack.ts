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
  issuer: 'https://slack.com',
  userRejectedWhen: { field: 'ok', equals: false },
};
