import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { serve } from '../../test/harness/provider/serve.ts';
import { apiMethods, apiOfProvider } from './front-ends.ts';
import { forbidden, granted, hidden, locked } from './markers.ts';

const endpoints = ['/token', '/revoke', '/user'];

/** Headers of requests that belong to the relay, to browsers and to proxies. */
const ownHeaders = ['cookie', 'origin', 'referer', 'x-login-relay', 'forwarded', 'dpop'];

/** Headers of the API that would act on the origin of the relay. */
const hostileHeaders = [
  ['Set-Cookie', '__Host-Http-lr_session_wiki=planted; Path=/; Secure; HttpOnly'],
  ['Access-Control-Allow-Origin', '*'],
  ['Clear-Site-Data', '"*"'],
  ['Service-Worker-Allowed', '/'],
  ['Location', 'https://evil.example/'],
  ['X-Accel-Redirect', '/etc/passwd'],
  ['X-Total-Count', '2'],
] as const;

/** Starts a provider that accepts every code and every token, on a free port of 127.0.0.1. */
export async function startAcceptingProvider() {
  /** The number of calls of each kind: `callback`, `redemption`, `refresh`, `revocation`, `user`, `api`. */
  const calls = new Map<string, number>();
  /** The calls that must not happen. */
  const faults: string[] = [];
  const count = (call: string) => {
    const number = (calls.get(call) ?? 0) + 1;
    calls.set(call, number);
    return number;
  };

  function answerTo(path: string, parameters: URLSearchParams): object {
    if (path === '/revoke') {
      count('revocation');
      expectNone(parameters.get('token'), [forbidden]);
      return {};
    }
    const refreshToken = parameters.get('refresh_token');
    const credential = refreshToken ?? parameters.get('code');
    expectNone(credential, [forbidden, locked]);
    const isRedemption = refreshToken === null && credential?.startsWith(hidden);
    const exchange = isRedemption ? 'redemption' : 'callback';
    const number = count(refreshToken === null ? exchange : 'refresh');
    const renewed = { refresh_token: `${hidden}refresh-${number % 5000}`, expires_in: 3600 };
    return { access_token: `${granted}${number}`, ...(number % 2 === 0 && renewed) };
  }

  function expectNone(credential: string | null, markers: readonly string[]): void {
    const isWrong = markers.some((marker) => credential?.includes(marker));
    if (isWrong) faults.push(`the provider was asked about ${credential}`);
  }

  function callApi({ method = '', url = '', headers }: IncomingMessage): object {
    count('api');
    const isOfPage = ownHeaders.filter((name) => headers[name] !== undefined);
    const isListed = apiMethods.some((one) => one === method);
    if (!isListed || isOfPage.length > 0) faults.push(`${method} ${url} with ${isOfPage}`);
    return { items: 2 };
  }

  const { port, close } = await serve(async (request, response) => {
    const { method, url = '', headers } = request;
    const { pathname, search } = new URL(url, 'http://127.0.0.1');
    const form = await text(request);
    const isApi = pathname.startsWith(apiOfProvider);
    if (!isApi && !endpoints.includes(pathname)) faults.push(`the provider was asked for ${url}`);
    const token = headers.authorization?.slice('Bearer '.length);
    expectNone(token ?? null, [forbidden, locked]);
    let answer: object;
    if (isApi) {
      for (const [name, value] of hostileHeaders) response.setHeader(name, value);
      answer = callApi(request);
    } else if (method === 'POST') {
      answer = answerTo(pathname, new URLSearchParams(`${search.slice(1)}&${form}`));
    } else {
      count('user');
      answer = { login: token };
    }
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  return { origin: `http://127.0.0.1:${port}`, calls, faults, close };
}
