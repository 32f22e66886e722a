import type { Closing } from '../api-proxy/websocket-frames.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import type { Cut } from '../resources/streams.ts';
import { UpgradeResponse } from '../server/upgrades.ts';
import type { WebSocketOpening } from '../upstream/messages.ts';

/** What the client of a WebSocket is told if the relay has ended it: 1001 if it may come back at once, with what it has. */
export const closings: Readonly<Record<Cut, Closing>> = {
  token_end: { code: 1008, reason: 'token_end' },
  logout: { code: 1008, reason: 'logout' },
  reload: { code: 1008, reason: 'reload' },
  limit: { code: 1008, reason: 'limit' },
  stop: { code: 1001, reason: 'stop' },
};

/**
 * What it takes to open the WebSocket that a request asks for.
 *
 * @returns undefined if it asks for none
 * @throws {RelayError} `websocket_unsupported` if it asks in a way that the relay does not know, so that the server may
 *   understand something else
 */
export function requireOpening(ctx: Context): WebSocketOpening | undefined {
  const { req, res } = ctx;
  if (res instanceof UpgradeResponse) {
    return { connection: res.client, key: ctx.get('Sec-WebSocket-Key') };
  }
  if (/\bwebsocket\b/i.test(`${req.headers.upgrade}`)) throw new RelayError('websocket_unsupported');
  return undefined;
}
