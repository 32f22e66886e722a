import { text } from 'node:stream/consumers';
import { serve } from '../../test/harness/provider/serve.ts';
import { forbidden, granted, hidden, locked } from './markers.ts';

/** A provider that accepts every code and every token. */
interface ObligingProvider {
  readonly origin: string;
  /** The number of calls of each kind: `callback`, `redemption`, `refresh`, `revocation`. */
  readonly calls: ReadonlyMap<string, number>;
  /** The calls that must not happen. */
  readonly faults: readonly string[];
  close(): void;
}

/** Starts one on a free port of 127.0.0.1. */
export async function startObligingProvider(): Promise<ObligingProvider> {
  const calls = new Map<string, number>();
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

  const { port, close } = await serve(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://127.0.0.1');
    const form = await text(request);
    const token = request.headers.authorization?.slice('Bearer '.length);
    const answer =
      request.method === 'POST'
        ? answerTo(pathname, new URLSearchParams(`${search.slice(1)}&${form}`))
        : { login: token };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  return { origin: `http://127.0.0.1:${port}`, calls, faults, close };
}
