import { createProofs } from '../../../src/grants/proofs.ts';

export const relay = 'https://login.example.com/auth/provider';

interface Answer {
  readonly status?: number;
  readonly body?: object;
  /** In place of the body: no JSON. */
  readonly text?: string | null;
}

/** The relay as the client sees it: tokens `access-1`, `access-2`… that end when a test says so. */
export class FakeRelay {
  /** The requests so far: method, path, and the form. */
  readonly requests: { readonly line: string; readonly form: Record<string, string> }[] = [];
  /** The answers to the next requests of a path, before the usual ones. */
  readonly next: Record<string, (Answer | Promise<Answer> | Error)[]> = {};
  /** In milliseconds since 1970. */
  now = () => Date.now();
  /** The number of the newest token; only this one is good. */
  token = 0;
  /** Whether the browser has a session cookie. */
  hasCookie = false;
  readonly #proofs = createProofs(() => this.now());

  /** The requests with this beginning. */
  count(line: string): number {
    return this.requests.filter((request) => request.line.startsWith(line)).length;
  }

  readonly fetch = async (input: string | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const { pathname } = new URL(request.url);
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    this.requests.push({ line: `${request.method} ${pathname}`, form });
    const answer =
      (await this.next[pathname]?.shift()) ?? (await this.#answer(request, pathname, form));
    if (answer instanceof Error) throw answer;
    const { status = 200, body = {}, text } = answer;
    const headers = { Date: new Date(this.now()).toUTCString(), 'X-Request-Id': 'request-1' };
    if (text !== undefined) return new Response(text, { status, headers });
    return Response.json(body, { status, headers });
  };

  async #answer(request: Request, path: string, form: Record<string, string>): Promise<Answer> {
    switch (`${request.method} ${path}`) {
      case 'POST /auth/provider/token':
        return this.#grant(request, form);
      case 'POST /auth/provider/revoke':
        return {};
      case 'GET /api/user':
        return this.#isAuthorized(request) ? { body: { login: 'ada' } } : unauthorized;
    }
    if (request.headers.get('X-Login-Relay') !== '1') return { status: 403 };
    if (!this.hasCookie) return path === '/auth/logout' ? {} : unauthorized;
    switch (`${request.method} ${path}`) {
      case 'GET /auth/session':
        return { body: { provider: 'provider', renewable: true } };
      case 'POST /auth/session/refresh':
        this.token += 1;
        return { body: { provider: 'provider', renewable: true } };
      case 'POST /auth/logout':
        this.hasCookie = false;
        return { body: { url: 'https://provider.example.com/logout' } };
    }
    return { status: 404 };
  }

  async #grant(request: Request, form: Record<string, string>): Promise<Answer> {
    const url = `${relay}/token`;
    const proof = request.headers.get('DPoP') ?? '';
    const isProved = await this.#proofs.verify(proof, { method: 'POST', url }).then(
      () => true,
      () => false,
    );
    if (!isProved) return { status: 400, body: { error: 'invalid_dpop_proof' } };
    const isGood = form['code'] === 'code' || form['refresh_token'] === `refresh-${this.token}`;
    if (!isGood) return { status: 400, body: { error: 'invalid_grant', detail: 'Log in again.' } };
    this.token += 1;
    const tokens = {
      access_token: `access-${this.token}`,
      refresh_token: `refresh-${this.token}`,
      scope: 'read',
    };
    return { body: tokens };
  }

  #isAuthorized({ headers, credentials }: Request): boolean {
    if (headers.get('Authorization') === `Bearer access-${this.token}`) return true;
    return this.hasCookie && headers.get('X-Login-Relay') === '1' && credentials === 'include';
  }
}

const unauthorized: Answer = { status: 401, body: { error: 'session_missing', detail: 'Log in.' } };
