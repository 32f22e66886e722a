import type { RelayError } from '../../../src/failures/relay-error.ts';
import { createNonces, createProofs } from '../../../src/grants/dpop-proofs.ts';

export const relay = 'https://login.example.com/auth/provider';

/** The answer to a lookup if the provider says that the token is not valid. */
export const invalidToken = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
};

/** The answer to a lookup if the provider's user endpoint fails. */
const failedLookUp = {
  status: 401,
  body: { detail: 'The provider could not look the user up.' },
  headers: { 'WWW-Authenticate': 'Bearer' },
};

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The body is not JSON. */
  readonly text?: string | null;
}

/** The relay as the client sees it: tokens `access-1`, `access-2`… that end when a test says so. */
export class FakeRelay {
  /** The requests so far: method, path, and the form. */
  readonly requests: { readonly line: string; readonly form: Record<string, string> }[] = [];
  /** The answers to the next requests of a path, before the usual answers. */
  readonly next: Record<string, (Answer | Promise<Answer> | Error)[]> = {};
  /** How often the relay was asked to revoke tokens. */
  revocations = 0;
  /** The grant types of the token requests that were right. */
  readonly grants: string[] = [];
  /** In milliseconds since 1970. */
  now = () => Date.now();
  /** The number of the newest token, which is the only valid token. */
  token = 0;
  /** Whether the browser has a session cookie. */
  hasCookie = false;
  /** Seconds until a new token ends, if the provider tells. */
  expiresIn: number | undefined = 3600;
  /** Whether the relay gives refresh tokens. */
  refreshes = true;
  /** The person, if logins are for a resource. The user endpoint then accepts no token. */
  identity: object | undefined;
  /** Whether the relay does not answer. */
  isOffline = false;
  /** Whether the provider's user endpoint answers 500. */
  userEndpointFails = false;
  readonly #proofs = createProofs({ now: () => this.now() });
  readonly #nonces = createNonces([Buffer.alloc(32, 1)], () => this.now());

  /** The requests with this beginning. */
  count(line: string): number {
    return this.requests.filter((request) => request.line.startsWith(line)).length;
  }

  readonly fetch = async (input: string | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    if (this.isOffline) throw new TypeError('Failed to fetch');
    const { pathname } = new URL(request.url);
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    this.requests.push({ line: `${request.method} ${pathname}`, form });
    const answer = (await this.next[pathname]?.shift()) ?? (await this.#answer(request, pathname, form));
    if (answer instanceof Error) throw answer;
    const { status = 200, body = {}, text } = answer;
    const headers = {
      Date: new Date(this.now()).toUTCString(),
      'X-Request-Id': 'request-1',
      ...answer.headers,
    };
    if (text !== undefined) return new Response(text, { status, headers });
    return Response.json(body, { status, headers });
  };

  async #answer(request: Request, path: string, form: Record<string, string>): Promise<Answer> {
    switch (`${request.method} ${path}`) {
      case 'POST /auth/provider/token':
        return this.#grant(request, form);
      case 'POST /auth/provider/revoke':
        this.revocations += 1;
        return {};
      case 'GET /api/user':
        if (this.userEndpointFails) return this.hasCookie ? { status: 502 } : failedLookUp;
        return this.#isAuthorized(request) ? { body: { login: 'ada' } } : invalidToken;
    }
    if (request.headers.get('X-Login-Relay') !== '1') return { status: 403 };
    if (!this.hasCookie) return path === '/auth/logout' ? {} : unauthorized;
    switch (`${request.method} ${path}`) {
      case 'GET /auth/session':
        return { body: { provider: 'provider', renewable: true, expires_in: this.expiresIn } };
      case 'POST /auth/session/refresh':
        this.grants.push('refresh_token');
        this.token += 1;
        return { body: { provider: 'provider', renewable: true, expires_in: this.expiresIn } };
      case 'POST /auth/logout':
        this.hasCookie = false;
        if (!request.url.includes('revoke=false')) this.revocations += 1;
        return { body: { url: 'https://provider.example.com/logout' } };
    }
    return { status: 404 };
  }

  async #grant(request: Request, form: Record<string, string>): Promise<Answer> {
    const url = `${relay}/token`;
    const proof = request.headers.get('DPoP') ?? '';
    const failure = await this.#proofs
      .verify(proof, { method: 'POST', url, nonces: form['code'] ? undefined : this.#nonces })
      .then(
        () => undefined,
        (error: unknown) => error as RelayError,
      );
    if (failure) return { ...failure, body: { error: failure.oauthError } };
    const isGood = form['code'] === 'code' || form['refresh_token'] === `refresh-${this.token}`;
    if (!isGood) return { status: 400, body: { error: 'invalid_grant', detail: 'Log in again.' } };
    this.token += 1;
    this.grants.push(form['grant_type'] ?? '');
    const tokens = {
      access_token: `access-${this.token}`,
      ...(this.refreshes && { refresh_token: `refresh-${this.token}` }),
      scope: 'read',
      expires_in: this.expiresIn,
      identity: this.identity,
    };
    return { body: tokens, headers: { 'DPoP-Nonce': this.#nonces.current() } };
  }

  #isAuthorized({ headers, credentials }: Request): boolean {
    const isNewest = headers.get('Authorization') === `Bearer access-${this.token}`;
    if (isNewest) return this.identity === undefined;
    return this.hasCookie && headers.get('X-Login-Relay') === '1' && credentials === 'include';
  }
}

const unauthorized: Answer = { status: 401, body: { error: 'session_missing', detail: 'Log in.' } };
