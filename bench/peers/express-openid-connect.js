import { randomBytes } from 'node:crypto';
import express from 'express';
import { auth } from 'express-openid-connect';
import { announce, doorUrl, origin, registration } from '../registration.ts';

const app = express();
app.use(
  auth({
    issuerBaseURL: origin,
    baseURL: doorUrl,
    clientID: registration.clientId,
    clientSecret: registration.clientSecret,
    clientAuthMethod: 'client_secret_post',
    secret: randomBytes(32).toString('hex'),
    authorizationParams: { response_type: 'code', response_mode: 'query', scope: 'openid' },
  }),
);
app.use((request, response) => {
  response.set('X-Forwarded-User', request.oidc.user.sub).status(204).end();
});
const server = app.listen(0, '127.0.0.1', () => announce(server));
