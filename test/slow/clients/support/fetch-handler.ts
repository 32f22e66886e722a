import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

/** Answers a request of node:http with a handler of the Fetch API. It notices when the client disconnects. */
export async function passToHandler(
  handler: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { method = '', url, headers } = request;
  const answer = await handler(
    new Request(`http://127.0.0.1${url}`, {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, `${value}`]),
      signal: gone.signal,
      ...(method === 'POST' && { body: Readable.toWeb(request) as never, duplex: 'half' }),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders();
  if (answer.body === null) response.end();
  else Readable.fromWeb(answer.body as never).pipe(response);
}
