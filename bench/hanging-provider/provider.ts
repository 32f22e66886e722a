import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** A provider that can be made to hang: it takes every call, and answers none. */
export interface HangingProvider {
  readonly url: string;
  /** How many calls it has taken and not answered at once. */
  taken(): number;
  hang(): void;
  /** Answers what it holds, and everything from now on. */
  recover(): void;
  stop(): void;
}

const record = JSON.stringify({ login: 'ada', name: 'Ada Lovelace' });
const token = JSON.stringify({ access_token: 'token', token_type: 'bearer' });

/** Starts a provider on a free port of this machine. */
export async function startProvider(): Promise<HangingProvider> {
  const held = new Map<ServerResponse, string>();
  let isHanging = false;
  let taken = 0;
  const answer = (response: ServerResponse, body: string) => {
    response.setHeader('Content-Type', 'application/json').end(body);
  };
  const server = createServer((request, response) => {
    const body = request.url?.startsWith('/token') ? token : record;
    if (!isHanging) {
      answer(response, body);
      return;
    }
    taken += 1;
    held.set(response, body);
    response.once('close', () => held.delete(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    taken: () => taken,
    hang() {
      isHanging = true;
    },
    recover() {
      isHanging = false;
      for (const [response, body] of held) answer(response, body);
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
