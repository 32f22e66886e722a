// The contract as a newcomer writes it from the documentation of Koa, its router, its CORS middleware and got. It
// protects logins with state and PKCE, and does nothing else.
import { createHash, randomBytes } from 'node:crypto';
import cors from '@koa/cors';
import Router from '@koa/router';
import got from 'got';
import Koa from 'koa';
import { announce, authorizeUrl, registration, tokenUrl, userUrl } from './registration.ts';

const { clientId, clientSecret, redirectUri, frontEnd } = registration;
const cookie = { maxAge: 600_000, sameSite: 'lax' };
const app = new Koa();
const router = new Router();

router.get('/auth/provider', (ctx) => {
  const state = randomBytes(16).toString('base64url');
  const verifier = randomBytes(32).toString('base64url');
  ctx.cookies.set('state', state, cookie);
  ctx.cookies.set('verifier', verifier, cookie);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  ctx.status = 307;
  ctx.redirect(`${authorizeUrl}?${query}`);
});

router.get('/auth/provider/callback', async (ctx) => {
  const { code, state } = ctx.query;
  ctx.assert(code && state && state === ctx.cookies.get('state'), 400, 'The login is unknown.');
  const { statusCode, body } = await got.post(tokenUrl, {
    searchParams: {
      client_id: clientId,
      client_secret: clientSecret,
      code: String(code),
      redirect_uri: redirectUri,
      code_verifier: ctx.cookies.get('verifier'),
    },
    responseType: 'json',
    throwHttpErrors: false,
  });
  ctx.assert(statusCode === 200, 400, 'The provider gave no token.');
  ctx.assert(body.access_token, 400, 'The token is empty.');
  ctx.status = 307;
  ctx.redirect(`${frontEnd}/?${new URLSearchParams({ access_token: body.access_token })}`);
});

router.get('/api/user', async (ctx) => {
  const { authorization } = ctx.headers;
  ctx.assert(authorization, 401, 'There is no token.');
  const { statusCode, body } = await got(userUrl, {
    headers: { authorization: `Bearer ${authorization.split(' ')[1]}` },
    responseType: 'json',
    throwHttpErrors: false,
  });
  ctx.assert(statusCode === 200, 401, 'The token is not valid.');
  ctx.body = body;
});

app.use(cors({ origin: frontEnd, credentials: true }));
app.use(async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    ctx.status = error.status || 500;
    ctx.body = { detail: error.message };
  }
});
app.use(router.routes());
const server = app.listen(0, '127.0.0.1', () => announce(server));
