import type { Socket } from 'node:net';
import { serveTcp } from '../../test/harness/provider/serve.ts';
import { type HostileAnswer, hostileAnswer } from './provider-answers.ts';
import { randomFor } from './random.ts';

/** A provider with hostile answers, except for honest clients. */
export type HostileProvider = Awaited<ReturnType<typeof startHostileProvider>>;

/**
 * Starts one on a free port of 127.0.0.1. The seed and the number in a token, a code or an issuer determine
 * the answer. A token or code that starts with "honest" gets a valid answer.
 */
export async function startHostileProvider(seed: number) {
  let answers = 0;
  const { port, close } = await serveTcp((socket) => {
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      const end = endOfRequest(received);
      if (end === undefined) return;
      const request = received.slice(0, end);
      received = received.slice(end);
      const { credential, number, honest } = read(request, origin);
      if (credential?.startsWith('honest')) {
        const body = JSON.stringify(honest);
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        return;
      }
      answers += 1;
      void give(socket, hostileAnswer(randomFor(seed, number), honest));
    });
  });
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    /** The number of its hostile answers. */
    get answers() {
      return answers;
    },
    close,
  };
}

function endOfRequest(received: string): number | undefined {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return received.length < end ? undefined : end;
}

/** The client of a request, and the answer of a well-behaved provider. */
function read(request: string, origin: string) {
  const credential = /(?:[?&\n](?:code|refresh_token|token)=|authorization: Bearer )([\w-]+)/i.exec(request)?.[1];
  const issuer = /^GET (\/\d+)\/\.well-known/.exec(request)?.[1];
  const number = Number(/\d+/.exec(issuer ?? credential ?? '')?.[0] ?? 0);
  const honest = request.startsWith('POST') ? grantOf(credential) : recordOf(credential);
  return { credential, number, honest: issuer ? metadataOf(origin, issuer) : honest };
}

const grantOf = (credential = '') => ({
  access_token: `granted-${credential}`,
  token_type: 'bearer',
  scope: 'user',
  expires_in: 3600,
  refresh_token: `renewed-${credential}`,
  refresh_token_expires_in: 86_400,
});

const recordOf = (login: string | undefined) => ({
  login,
  avatar_url: 'https://a',
  name: null,
  html_url: 'https://b',
});

const metadataOf = (origin: string, issuer: string) => ({
  issuer: origin + issuer,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  userinfo_endpoint: `${origin}/user`,
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_post'],
  authorization_response_iss_parameter_supported: true,
});

async function give(socket: Socket, { steps, ending }: HostileAnswer): Promise<void> {
  for (const step of steps) {
    if (typeof step !== 'number') socket.write(step);
    else await new Promise((resolve) => setTimeout(resolve, step));
  }
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
}
