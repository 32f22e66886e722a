import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from 'node:http';
import { serve } from '../../harness/provider/serve.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';
import { clientSecret } from './check.ts';

/** A request as it arrived. */
export interface Arrival {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request. */
export type Respond = (response: ServerResponse, arrival: Arrival) => void;

/** What each endpoint answers, and the metadata, if there is any. */
export interface Endpoints {
  authorize: Respond;
  token: Respond;
  user: Respond;
  metadata: Respond;
}

/** Answers with this status, value as JSON, and these headers. */
export function json(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): Respond {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
}

/** Answers with a page. */
export function html(status: number, body: string): Respond {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><html><body>${body}</body></html>`);
  };
}

/** Sends the browser elsewhere. */
export function redirect(location: string, status = 302): Respond {
  return (response) => {
    response.writeHead(status, { Location: location });
    response.end();
  };
}

/** Answers so, but refuses the client if it has another secret. */
export function knowingTheClient(respond: Respond): Respond {
  return (response, arrival) => {
    const { headers, url, body } = arrival;
    const basic = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString();
    const isKnown = `${basic} ${url.search} ${body}`.includes(clientSecret);
    (isKnown ? respond : json(401, { error: 'invalid_client' }))(response, arrival);
  };
}

/** A provider that knows the client, and says so in RFC 6749's words. */
export const healthy: Endpoints = {
  authorize: redirect('/login'),
  token: knowingTheClient(json(400, { error: 'invalid_grant' })),
  user: json(401, { error: 'invalid_token' }),
  metadata: html(404, 'Not found'),
};

/** What the endpoints do, as a server's listener. */
export function listenerFor(
  changes: Partial<Endpoints>,
  arrivals: Arrival[] = [],
): RequestListener {
  const endpoints = { ...healthy, ...changes };
  return async (request, response) => {
    const arrival = await arrivalOf(request);
    arrivals.push(arrival);
    const { pathname } = arrival.url;
    const respond =
      pathname === '/authorize'
        ? endpoints.authorize
        : pathname === '/token'
          ? endpoints.token
          : pathname === '/user'
            ? endpoints.user
            : endpoints.metadata;
    respond(response, arrival);
  };
}

/** Flags that name the three endpoints at an address. */
export function endpointsAt(address: string): Flags {
  return {
    'authorize-url': `${address}/authorize`,
    'token-url': `${address}/token`,
    'user-url': `${address}/user`,
    'token-request': 'body',
  };
}

/** Runs the task with a provider that answers so, and flags that name its endpoints. */
export async function withFakeProvider<T>(
  changes: Partial<Endpoints>,
  task: (flags: Flags, arrivals: Arrival[], address: string) => Promise<T>,
): Promise<T> {
  const arrivals: Arrival[] = [];
  const server = await serve(listenerFor(changes, arrivals));
  const address = `http://127.0.0.1:${server.port}`;
  try {
    return await task(endpointsAt(address), arrivals, address);
  } finally {
    await server.close();
  }
}

async function arrivalOf(request: IncomingMessage): Promise<Arrival> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return {
    method: request.method ?? '',
    url: new URL(request.url ?? '', 'http://provider.invalid'),
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
  };
}
