import bell from '@hapi/bell';
import { server as createServer } from '@hapi/hapi';
import { announce, authorizeUrl, registration, tokenUrl } from '../registration.ts';

const server = createServer({ port: 0, host: '127.0.0.1' });
await server.register(bell);
server.auth.strategy('provider', 'bell', {
  provider: {
    name: 'provider',
    protocol: 'oauth2',
    useParamsAuth: true,
    auth: authorizeUrl,
    token: tokenUrl,
    pkce: 'S256',
  },
  clientId: registration.clientId,
  clientSecret: registration.clientSecret,
  password: 'a password of the bench, of 32 characters or more',
  isSecure: false,
  skipProfile: true,
  location: registration.baseUrl,
});
// Bell starts a login at the address where it ends it.
server.route({
  method: 'GET',
  path: '/auth/provider/callback',
  options: { auth: 'provider' },
  handler({ auth }, h) {
    const query = new URLSearchParams({ access_token: auth.credentials.token });
    return h.redirect(`${registration.frontEnd}/?${query}`);
  },
});
await server.start();
announce(server.listener);
