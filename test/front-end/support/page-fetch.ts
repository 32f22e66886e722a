import type { Answer } from '../../harness/client/http-client.ts';
import { frontendOrigin, type Relay } from '../../harness/relay/relay-under-test.ts';

/** A request of a library to `fetch`. */
interface Asked {
  readonly method?: string | undefined;
  readonly headers?: RequestInit['headers'] | undefined;
  readonly body?: RequestInit['body'] | undefined;
}

/** The `fetch` that the libraries call. */
export type Fetch = (url: string | URL | Request, asked?: Asked) => Promise<Response>;

/** Header fields and types that need no preflight. @see https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
const safeHeaders = ['accept', 'content-type'];
const safeTypes = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)(;|$)/;

/**
 * Returns a `fetch` that sends its requests to the relay as a browser does for a page of the front
 * end: with the page's origin, after a preflight if one is needed, and without an answer that CORS
 * withholds.
 */
export function pageFetch(relay: () => Relay): Fetch {
  return async (url, { method = 'GET', headers: given = {}, body: content = null } = {}) => {
    const request = new Request(url, { method, headers: given, body: content });
    const { pathname, search } = new URL(request.url);
    const path = pathname + search;
    const headers = [...request.headers].filter(([name]) => name !== 'user-agent');
    if (needsPreflight(request)) {
      const names = headers.map(([name]) => name).filter((name) => !safeHeaders.includes(name));
      const asked = names.length > 0 ? names.join(',') : undefined;
      const preflight = await relay().preflight(path, frontendOrigin, asked, request.method);
      readable(preflight);
      const allowed = `${preflight.headers['access-control-allow-headers']}`.toLowerCase();
      for (const name of names) {
        if (!allowed.split(',').includes(name)) throw new TypeError(`CORS forbids ${name}`);
      }
    }
    const body = await request.text();
    if (body !== '') headers.push(['Content-Length', `${Buffer.byteLength(body)}`]);
    const answer = await relay().send({
      method: request.method,
      path,
      headers: [['Origin', frontendOrigin], ...headers],
      body,
    });
    return new Response(readable(answer).body.toString(), {
      status: answer.status,
      headers: Object.entries(answer.headers).map(([name, value]) => [name, `${value}`]),
    });
  };
}

function needsPreflight({ method, headers }: Request): boolean {
  const isSafe = [...headers.keys()].every((name) => safeHeaders.includes(name));
  const type = headers.get('content-type');
  return !(isSafe && ['GET', 'POST'].includes(method) && (type === null || safeTypes.test(type)));
}

/** The answer, if the page may read it. */
function readable(answer: Answer): Answer {
  const allowed = answer.headers['access-control-allow-origin'];
  if (allowed !== frontendOrigin && allowed !== '*') throw new TypeError('CORS withholds the answer');
  return answer;
}
