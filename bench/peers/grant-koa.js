import grant from 'grant';
import Koa from 'koa';
import session from 'koa-session';
import { announce, authorizeUrl, registration, tokenUrl } from '../registration.ts';

const app = new Koa({ env: 'production', keys: ['a key of the bench'] });
app.use(session(app));
app.use(
  grant.koa()({
    defaults: { origin: registration.baseUrl, prefix: '/auth' },
    provider: {
      authorize_url: authorizeUrl,
      access_url: tokenUrl,
      oauth: 2,
      key: registration.clientId,
      secret: registration.clientSecret,
      state: true,
      pkce: true,
      response: ['tokens'],
      callback: registration.frontEnd,
    },
  }),
);
const server = app.listen(0, '127.0.0.1', () => announce(server));
