import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { canary } from '../expect/canaries.ts';
import { redirectUri } from '../relay/relay-under-test.ts';
import type { Certificate } from '../system/certificate.ts';
import { serve, serveTls } from './serve.ts';

/** A request to a provider. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly host: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** The body, where it came as a form. */
  readonly form: URLSearchParams;
  readonly body: string;
}

/** What a provider answers. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A provider as its documentation describes it. */
export interface DocumentedProvider {
  /** By method and path: `GET /user`. */
  readonly endpoints: Readonly<Record<string, (request: UpstreamRequest) => Reply>>;
}

/** A {@link DocumentedProvider} that listens on loopback, by http and by https. */
export interface FakeProvider {
  readonly requests: readonly UpstreamRequest[];
  readonly port: number;
  readonly tlsPort: number;
  close(): Promise<void>;
}

export async function startFakeProvider(
  { endpoints }: DocumentedProvider,
  { key, cert }: Pick<Certificate, 'key' | 'cert'>,
): Promise<FakeProvider> {
  const requests: UpstreamRequest[] = [];
  const listener: RequestListener = async (message, response) => {
    const url = new URL(message.url ?? '', 'http://provider');
    const body = await text(message);
    const isForm = message.headers['content-type'] === 'application/x-www-form-urlencoded';
    const request = {
      method: message.method ?? '',
      path: url.pathname,
      host: message.headers.host,
      headers: message.headers,
      query: url.searchParams,
      form: new URLSearchParams(isForm ? body : ''),
      body,
    };
    requests.push(request);
    const endpoint = endpoints[`${request.method} ${request.path}`];
    const reply = endpoint?.(request) ?? page(404, 'There is no such page.');
    response.writeHead(reply.status, reply.headers).end(reply.body);
  };
  const server = await serve(listener);
  const tlsServer = await serveTls(key + cert, listener);
  return {
    requests,
    port: server.port,
    tlsPort: tlsServer.port,
    async close() {
      await Promise.all([server.close(), tlsServer.close()]);
    },
  };
}

export function jsonReply(status: number, value: unknown): Reply {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  return { status, headers, body: typeof value === 'string' ? value : JSON.stringify(value) };
}

export function page(status: number, words: string): Reply {
  return {
    status,
    headers: { 'Content-Type': 'text/html' },
    body: `<!doctype html><p>${words}</p>`,
  };
}

/** Sends the browser back to the client with these parameters and its own state. */
export function redirectBack(
  query: URLSearchParams,
  answer: Readonly<Record<string, string>>,
): Reply {
  const url = new URL(query.get('redirect_uri') ?? redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  const state = query.get('state');
  if (state !== null) url.searchParams.set('state', state);
  return { status: 302, headers: { Location: url.href }, body: '' };
}

/** Why a code cannot be exchanged. */
export type GrantFault = 'unknown_code' | 'other_redirect_uri' | 'wrong_verifier';

/** The codes and tokens of a provider. */
export class Grants {
  readonly #codes = new Map<string, URLSearchParams>();
  readonly #tokens = new Set<string>();

  /** Issues a code for an authorization request. */
  issue(authorizationRequest: URLSearchParams): string {
    const code = canary('code');
    this.#codes.set(code, authorizationRequest);
    return code;
  }

  /** Spends the code of a token request: a token, or what is wrong. */
  redeem(parameters: URLSearchParams): { token: string } | { fault: GrantFault } {
    const code = parameters.get('code') ?? '';
    const request = this.#codes.get(code);
    if (request === undefined) return { fault: 'unknown_code' };
    this.#codes.delete(code);
    if (request.get('redirect_uri') !== parameters.get('redirect_uri')) {
      return { fault: 'other_redirect_uri' };
    }
    const challenge = request.get('code_challenge');
    const verifier = parameters.get('code_verifier') ?? '';
    if (
      challenge !== null &&
      createHash('sha256').update(verifier).digest('base64url') !== challenge
    ) {
      return { fault: 'wrong_verifier' };
    }
    return { token: this.issueToken() };
  }

  issueToken(): string {
    const token = canary('token');
    this.#tokens.add(token);
    return token;
  }

  /** @returns false if the token is not valid anyway */
  revoke(token: string): boolean {
    return this.#tokens.delete(token);
  }

  /** Whether the request brings a token that was issued, as a bearer. */
  knows({ headers }: UpstreamRequest): boolean {
    return this.#tokens.has(/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '');
  }
}
