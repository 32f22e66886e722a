import { openidAccess } from './openid.ts';
import type { Preset } from './provider.ts';

export const okta: Preset = {
  name: 'okta',
  title: 'Okta',
  documentation: 'https://developer.okta.com/docs/api/openapi/okta-oauth/oauth',
  host: { meaning: 'your Okta domain' },
  authorizeUrl: 'https://{host}/oauth2/v1/authorize',
  tokenUrl: 'https://{host}/oauth2/v1/token',
  userUrl: 'https://{host}/oauth2/v1/userinfo',
  scope: 'openid profile',
  clientAuthentication: 'basic',
  pkce: true,
  refreshTokens: 'by-setting',
  refreshRequest: { scope: 'offline_access' },
  revocation: { url: 'https://{host}/oauth2/v1/revoke', request: 'rfc7009' },
  accountPrompt: 'login',
  access: openidAccess,
};
