// The limit of what stands on Koa: its router and its cross-origin rules around one redirect, with
// the relay's headers, and nothing else.
import { createServer } from 'node:http';
import cors from '@koa/cors';
import Router from '@koa/router';
import Koa from 'koa';
import { authorizeUrl } from '../provider/endpoints.ts';
import { registration } from '../registration.ts';
import { announce } from './announce.ts';
import { commonHeaders } from './headers.ts';

const { clientId, redirectUri, frontEnd } = registration;
const query = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri };
const location = `${authorizeUrl}?${new URLSearchParams(query)}`;

const router = new Router({ sensitive: true, strict: true });
router.get('/auth/provider', (ctx) => {
  ctx.body = null;
  ctx.status = 307;
  ctx.set({ ...commonHeaders(), Location: location });
});
const app = new Koa({ env: 'production' });
app.use(cors({ origin: (ctx) => (ctx.get('Origin') === frontEnd ? frontEnd : '') }));
app.use(router.routes());
announce(createServer(app.callback()));
