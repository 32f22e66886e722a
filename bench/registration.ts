/** What every contender is told: its client, its own address, and its front end. */
export const registration = {
  clientId: 'bench-client',
  clientSecret: 'bench-secret-0123456789abcdef0123456789abcdef',
  baseUrl: 'http://localhost:8000',
  redirectUri: 'http://localhost:8000/auth/provider/callback',
  frontEnd: 'http://localhost:3000',
} as const;
