import { Agent } from 'node:http';
import oauth2 from '@fastify/oauth2';
import fastify from 'fastify';
import { announce, registration, tokenUrl } from '../registration.ts';

const { origin } = new URL(tokenUrl);
const http = { agent: new Agent({ keepAlive: true }) };
const app = fastify();
app.register(oauth2, {
  name: 'provider',
  scope: [],
  credentials: {
    client: { id: registration.clientId, secret: registration.clientSecret },
    auth: {
      authorizeHost: origin,
      authorizePath: '/authorize',
      tokenHost: origin,
      tokenPath: '/token',
    },
    http,
  },
  startRedirectPath: '/auth/provider',
  callbackUri: registration.redirectUri,
  pkce: 'S256',
  cookie: { path: '/' },
});
app.get('/auth/provider/callback', async (request, reply) => {
  const { token } = await app.provider.getAccessTokenFromAuthorizationCodeFlow(request, reply);
  const query = new URLSearchParams({ access_token: token.access_token });
  return reply.redirect(`${registration.frontEnd}/?${query}`);
});
await app.listen({ port: 0, host: '127.0.0.1' });
announce(app.server);
