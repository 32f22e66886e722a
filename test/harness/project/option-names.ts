/** Every flag of the contract with its environment variable, written down independently. */
export const variables = {
  port: 'PORT',
  host: 'HOST',
  origin: 'FRONTEND_ORIGIN',
  'frontend-url': 'FRONTEND_URL',
  'base-url': 'BASE_URL',
  'client-id': 'PROVIDER_CLIENT_ID',
  'client-secret': 'PROVIDER_CLIENT_SECRET',
  'client-secret-file': 'PROVIDER_CLIENT_SECRET_FILE',
  provider: 'PROVIDER',
  'authorize-url': 'PROVIDER_AUTHORIZE_URL',
  'token-url': 'PROVIDER_TOKEN_URL',
  'user-url': 'PROVIDER_USER_URL',
  scope: 'PROVIDER_SCOPE',
  'token-request': 'PROVIDER_TOKEN_REQUEST',
  pkce: 'PROVIDER_PKCE',
  'authorize-params': 'PROVIDER_AUTHORIZE_PARAMS',
  'token-params': 'PROVIDER_TOKEN_PARAMS',
  'path-name': 'PROVIDER_PATH_NAME',
  'token-delivery': 'TOKEN_DELIVERY',
  'redirect-uri': 'FRONTEND_REDIRECT_URI',
  'refresh-tokens': 'REFRESH_TOKENS',
  'refresh-lifetime': 'REFRESH_LIFETIME',
  'revocation-url': 'PROVIDER_REVOCATION_URL',
  'provider-timeout': 'PROVIDER_TIMEOUT',
  'log-level': 'LOG_LEVEL',
  'log-format': 'LOG_FORMAT',
  'insecure-http': 'INSECURE_HTTP',
  issuer: 'PROVIDER_ISSUER',
  'key-file': 'KEY_FILE',
  'metrics-port': 'METRICS_PORT',
} as const;

/** A flag of the contract, without its dashes. */
export type FlagName = keyof typeof variables;

/** The flag names, in the order of the contract. */
export const flagNames = Object.keys(variables) as FlagName[];
