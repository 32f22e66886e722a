import { serve } from '../../test/harness/provider/serve.ts';

/** A provider that takes every code and knows every token. */
interface ObligingProvider {
  readonly origin: string;
  close(): void;
}

/** Starts one on a free port of 127.0.0.1. */
export async function startObligingProvider(): Promise<ObligingProvider> {
  const { port, close } = await serve((request, response) => {
    request.resume();
    const token = request.headers.authorization?.slice('Bearer '.length);
    const answer = request.method === 'POST' ? { access_token: 'granted' } : { login: token };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  return { origin: `http://127.0.0.1:${port}`, close };
}
