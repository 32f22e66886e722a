import { openidAccess } from './openid.ts';
import type { Preset } from './provider.ts';

export const linkedin: Preset = {
  name: 'linkedin',
  title: 'LinkedIn',
  documentation:
    'https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2',
  authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
  tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
  userUrl: 'https://api.linkedin.com/v2/userinfo',
  scope: 'openid profile',
  clientAuthentication: 'body',
  pkce: false,
  refreshTokens: 'by-setting',
  access: { users: { fields: ['sub'] }, emails: openidAccess.emails },
};
