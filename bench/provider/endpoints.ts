/** Where the provider is. */
export const providerUrl = process.env['PROVIDER_URL'] ?? '';
export const authorizeUrl = `${providerUrl}/authorize`;
export const tokenUrl = `${providerUrl}/token`;
export const userUrl = `${providerUrl}/user`;
