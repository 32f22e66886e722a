// Where the provider is, for the programs that are measured.
const origin = process.env['PROVIDER_URL'] ?? '';

export const authorizeUrl = `${origin}/authorize`;
export const tokenUrl = `${origin}/token`;
export const userUrl = `${origin}/user`;
