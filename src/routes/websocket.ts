import type { Closing } from '../api-proxy/websocket-frames.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import type { Cut } from '../resources/streams.ts';
import { UpgradeResponse } from '../server/upgrades.ts';
import type { WebSocketOpening } from '../upstream/messages.ts';

/**
 * The close frames of WebSockets that the relay ends. With 1001, the client may reconnect at once with the same token.
 */
export const closings: Readonly<Record<Cut, Closing>> = {
  token_end: { code: 1008, reason: 'token_end' },
  logout: { code: 1008, reason: 'logout' },
  reload: { code: 1008, reason: 'reload' },
  limit: { code: 1008, reason: 'limit' },
  stop: { code: 1001, reason: 'stop' },
};

/**
 * Reads what the opening of a WebSocket needs. The server gives an `UpgradeResponse` only to requests that
 * `opensWebSocket` accepts.
 *
 * @returns undefined if the request does not ask for a WebSocket
 * @throws {RelayError} `websocket_unsupported` for any unusual form, which the server might understand differently
 */
export function readOpening(ctx: Context): WebSocketOpening | undefined {
  const { req, res } = ctx;
  if (res instanceof UpgradeResponse) {
    return { connection: res.client, key: ctx.get('Sec-WebSocket-Key') };
  }
  if (/\bwebsocket\b/i.test(`${req.headers.upgrade}`)) throw new RelayError('websocket_unsupported');
  return undefined;
}
