import { hash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { canary, remember } from '../expect/canaries.ts';
import { type Serving, serve } from './serve.ts';

/** A request that the provider got. */
interface ProviderCall {
  readonly endpoint: 'code' | 'refresh' | 'revocation';
  /** The code or token that it is about. */
  readonly credential: string;
  readonly scope: string | null;
}

/** A login: the tokens that came of one code. */
interface Family {
  readonly scope: string;
  accessToken: string;
  refreshToken: string | undefined;
  isRevoked: boolean;
}

/** How the provider behaves; tests change it. */
export interface ProviderMood {
  /** What a refresh does to the refresh token. `none`: there are no refresh tokens at all. */
  rotation: 'rotates' | 'keeps' | 'none';
  /** Seconds until an access token expires; undefined: the provider does not say. */
  expiresIn: number | undefined;
  /** Seconds until a refresh token expires; undefined: the provider does not say. */
  refreshExpiresIn: number | undefined;
  /** What calls get instead: a status, a reset, an answer that is no JSON, or an error that quotes the call. */
  trouble: number | 'reset' | 'nonsense' | 'quotes' | undefined;
  /** Refreshes are answered after it. */
  patience: Promise<void> | undefined;
}

const goodMood: ProviderMood = {
  rotation: 'rotates',
  expiresIn: 28_800,
  refreshExpiresIn: undefined,
  trouble: undefined,
  patience: undefined,
};

/**
 * A provider with refresh tokens, rotation and detection of reuse: a second use of a refresh token ends
 * the login. It speaks `client_secret_post`.
 */
export class RefreshingProvider {
  readonly client = { clientId: 'client-1', clientSecret: canary('secret') };
  readonly calls: ProviderCall[] = [];
  readonly mood: ProviderMood = { ...goodMood };
  readonly #challenges = new Map<string, string | null>();
  /** By every access token and refresh token that was ever issued. */
  readonly #families = new Map<string, Family>();
  readonly #called = new EventEmitter();
  #serving: Serving | undefined;

  static async start(): Promise<RefreshingProvider> {
    const provider = new RefreshingProvider();
    provider.#serving = await serve(async (request, response) => {
      const form = new URLSearchParams(await text(request));
      const path = request.url ?? '';
      if (!provider.#isClient(form)) json(response, 401, { error: 'invalid_client' });
      else if (path === '/revoke') provider.#revoke(response, form);
      else if (path !== '/token') json(response, 404, {});
      else if (form.get('grant_type') === 'refresh_token') await provider.#refresh(response, form);
      else provider.#exchange(response, form);
    });
    return provider;
  }

  async stop(): Promise<void> {
    await this.#serving?.close();
  }

  /** The relay's flags for this provider. */
  get flags() {
    const url = `http://127.0.0.1:${this.#serving?.port}`;
    return {
      'authorize-url': `${url}/authorize`,
      'token-url': `${url}/token`,
      'user-url': `${url}/user`,
      'revocation-url': `${url}/revoke`,
      'token-request': 'body',
    };
  }

  /** Forgets the calls and behaves well again. */
  forget(): void {
    this.calls.length = 0;
    Object.assign(this.mood, goodMood);
  }

  /** The credentials of the calls to an endpoint, in order. */
  credentials(endpoint: ProviderCall['endpoint']): string[] {
    return this.calls.filter((call) => call.endpoint === endpoint).map((call) => call.credential);
  }

  /** Someone consents: the code for an authorization request. */
  authorize({ searchParams }: URL): string {
    const code = canary('code');
    this.#challenges.set(code, searchParams.get('code_challenge'));
    return code;
  }

  /** Resolves once the next refresh has arrived. */
  async nextRefresh(): Promise<void> {
    await once(this.#called, 'refresh');
  }

  /** Revokes every login. */
  revokeAll(): void {
    for (const family of this.#families.values()) family.isRevoked = true;
  }

  /** Whether a refresh token is the newest one of its login. */
  isNewest(refreshToken = ''): boolean {
    return this.#families.get(refreshToken)?.refreshToken === refreshToken;
  }

  /** Whether the provider takes the access token. */
  accepts(accessToken: string): boolean {
    const family = this.#families.get(accessToken);
    return family?.accessToken === accessToken && !family.isRevoked;
  }

  #isClient(form: URLSearchParams): boolean {
    const { clientId, clientSecret } = this.client;
    return form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
  }

  #exchange(response: ServerResponse, form: URLSearchParams): void {
    const code = form.get('code') ?? '';
    this.calls.push({ endpoint: 'code', credential: code, scope: null });
    const challenge = this.#challenges.get(code);
    this.#challenges.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    remember(verifier);
    if (this.#isInTrouble(response)) return;
    const proved = hash('sha256', verifier, 'base64url');
    if (challenge !== proved) {
      json(response, 400, { error: 'invalid_grant' });
      return;
    }
    const family = { scope: 'read write', accessToken: '', refreshToken: '', isRevoked: false };
    this.#grant(response, family, family.scope);
  }

  async #refresh(response: ServerResponse, form: URLSearchParams): Promise<void> {
    const credential = form.get('refresh_token') ?? '';
    const scope = form.get('scope');
    this.calls.push({ endpoint: 'refresh', credential, scope });
    this.#called.emit('refresh');
    await this.mood.patience;
    if (this.#isInTrouble(response)) return;
    const family = this.#families.get(credential);
    if (family !== undefined && family.refreshToken !== credential) family.isRevoked = true;
    if (family === undefined || family.isRevoked) {
      json(response, 400, { error: 'invalid_grant' });
      return;
    }
    this.#grant(response, family, scope ?? family.scope);
  }

  #revoke(response: ServerResponse, form: URLSearchParams): void {
    const credential = form.get('token') ?? '';
    this.calls.push({ endpoint: 'revocation', credential, scope: null });
    const family = this.#families.get(credential);
    if (this.#isInTrouble(response)) return;
    if (family !== undefined) family.isRevoked = true;
    json(response, 200, {});
  }

  #isInTrouble(response: ServerResponse): boolean {
    const { trouble } = this.mood;
    if (trouble === 'reset') response.socket?.resetAndDestroy();
    else if (trouble === 'nonsense') response.end('<html>');
    else if (trouble === 'quotes') {
      const credential = this.calls.at(-1)?.credential;
      json(response, 400, { error: credential, error_description: credential });
    } else if (trouble !== undefined) json(response, trouble, {});
    return trouble !== undefined;
  }

  #grant(response: ServerResponse, family: Family, scope: string): void {
    const { rotation, expiresIn, refreshExpiresIn } = this.mood;
    const isNew = family.refreshToken === '';
    if (isNew || rotation === 'rotates') family.refreshToken = canary('token');
    if (rotation === 'none') family.refreshToken = undefined;
    family.accessToken = canary('token');
    this.#families.set(family.accessToken, family);
    if (family.refreshToken !== undefined) this.#families.set(family.refreshToken, family);
    json(response, 200, {
      access_token: family.accessToken,
      token_type: 'bearer',
      scope,
      expires_in: expiresIn,
      refresh_token: isNew || rotation === 'rotates' ? family.refreshToken : undefined,
      refresh_token_expires_in: refreshExpiresIn,
    });
  }
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}
