import { type Serving, serve } from '../../../harness/provider/serve.ts';

/** A relay that is ready, but resets the connection as soon as it has read a request. */
export interface DyingRelay extends Serving {
  /** The requested paths, without probes. */
  readonly requests: string[];
}

/** Starts one. */
export async function startDyingRelay(): Promise<DyingRelay> {
  const requests: string[] = [];
  const server = await serve(({ url = '', socket }, response) => {
    if (url === '/readyz') {
      response.end('{}');
      return;
    }
    requests.push(url.split('?')[0] ?? '');
    socket.resetAndDestroy();
  });
  return { ...server, requests };
}
