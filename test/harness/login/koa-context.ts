import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import type { Context, RequestState } from '../../../src/http/context.ts';

const app = new Koa<RequestState>({ env: 'production' });
const unconnected = new Socket();

/** The context of a request with these headers, as Koa makes it, without a connection. */
export function koaContext(headers: IncomingHttpHeaders = {}): Context {
  const request = new IncomingMessage(unconnected);
  request.headers = headers;
  return app.createContext(request, new ServerResponse(request));
}

/** The `Set-Cookie` headers of the response so far, as they would arrive over a socket. */
export function answerOf(ctx: Context): { headers: { 'set-cookie'?: string[] } } {
  const lines = ctx.response.headers['set-cookie'];
  if (lines === undefined) return { headers: {} };
  return { headers: { 'set-cookie': [lines].flat().map(String) } };
}
