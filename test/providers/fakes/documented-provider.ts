import { hash } from 'node:crypto';
import { canary } from '../../harness/expect/canaries.ts';
import type { PageRequest, Pages } from '../../harness/provider/pages.ts';
import { type Reply, redirect } from '../../harness/provider/provider-behaviours.ts';
import { type Client, redirectUri } from '../../harness/relay/relay-under-test.ts';

/** The endpoints of a provider as its documentation describes them, as pages of the strict provider. */
export function documented(endpoints: Readonly<Record<string, (request: PageRequest) => Reply>>): Pages {
  const pages = Object.entries(endpoints).map(([name, endpoint]) => {
    const page: Pages[string] = (response, request) => endpoint(request)(response);
    return [name, page];
  });
  return Object.fromEntries(pages);
}

/** Sends the browser back to the client with these parameters and its own state. */
export function redirectBack(query: URLSearchParams, answer: Readonly<Record<string, string>>): Reply {
  const url = new URL(query.get('redirect_uri') ?? redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  const state = query.get('state');
  if (state !== null) url.searchParams.set('state', state);
  return redirect(url.href);
}

/** Whether a token request has the identifier and the secret of the client. */
export function isFrom(client: Client, parameters: URLSearchParams): boolean {
  const hasSecret = parameters.get('client_secret') === client.clientSecret;
  return hasSecret && parameters.get('client_id') === client.clientId;
}

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

  /** Spends the code of a token request. The result is a token, or why there is none. */
  redeem(parameters: URLSearchParams) {
    const code = parameters.get('code') ?? '';
    const request = this.#codes.get(code);
    if (request === undefined) return { fault: 'unknown_code' } as const;
    this.#codes.delete(code);
    if (request.get('redirect_uri') !== parameters.get('redirect_uri')) {
      return { fault: 'other_redirect_uri' } as const;
    }
    const challenge = request.get('code_challenge');
    const verifier = parameters.get('code_verifier') ?? '';
    if (challenge !== null && hash('sha256', verifier, 'base64url') !== challenge) {
      return { fault: 'wrong_verifier' } as const;
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

  /** Whether the request has an issued token as a bearer token. */
  knows({ headers }: PageRequest): boolean {
    return this.#tokens.has(/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '');
  }
}
