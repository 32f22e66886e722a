import { randomBytes } from 'node:crypto';
import type { ExtraParameters, Provider } from '../providers/provider.ts';
import { optionalParameter, withParameters } from './query.ts';
import { scopeInRequest } from './scope.ts';

/**
 * Creates a function that returns the authorization request at a provider, without the parameters of one login. It
 * keeps an existing query of the endpoint. Requests for the whole scope are built only once.
 *
 * @returns a function of `scope`, a part of the configured scope (default: all of it), and `refresh`, whether to ask
 *   for a refresh token
 * @see RFC 6749 §4.1.1
 */
export function createAuthorizationUrls(
  client: { readonly clientId: string; readonly callbackUri: string },
  provider: Pick<Provider, 'authorizeUrl' | 'scope' | 'scopeSeparator' | 'authorizeParams' | 'refreshRequest'>,
) {
  const { authorizeUrl, authorizeParams = [], refreshRequest = {}, scope: wholeScope } = provider;
  const configured = new URL(authorizeUrl).searchParams;
  for (const [name, value] of authorizeParams) configured.append(name, value);
  // A configured parameter replaces the one that usually asks for a refresh token.
  const refreshParameters = (refreshRequest.parameters ?? []).filter(([name]) => !configured.has(name));

  /** Builds the URL for a scope. @param refresh whether to ask for a refresh token */
  function buildUrl(requestedScope: string | undefined, refresh: boolean): string {
    const scope = refresh ? joinScopes(requestedScope, refreshRequest.scope) : requestedScope;
    const parameters: ExtraParameters = [
      ['response_type', 'code'],
      ['client_id', client.clientId],
      ['redirect_uri', client.callbackUri],
      ...optionalParameter('scope', scopeInRequest(scope, provider.scopeSeparator)),
      ...authorizeParams,
      ...(refresh ? refreshParameters : []),
    ];
    return withParameters(authorizeUrl, parameters);
  }

  const plainUrl = buildUrl(wholeScope, false);
  const refreshUrl = buildUrl(wholeScope, true);
  return (login: { readonly scope?: string | undefined; readonly refresh?: boolean } = {}): string => {
    const { scope = wholeScope, refresh = false } = login;
    if (scope !== wholeScope) return buildUrl(scope, refresh);
    return refresh ? refreshUrl : plainUrl;
  };
}

/** Adds the words of another scope that are not in the scope yet. */
function joinScopes(scope: string | undefined, more: string | undefined): string | undefined {
  if (more === undefined) return scope;
  return [...new Set([...(scope?.split(' ') ?? []), ...more.split(' ')])].join(' ');
}

/**
 * Adds to the authorization request which account the person probably uses, or the wish to choose another account.
 *
 * @param wish from the start of the login
 * @see OpenID Connect Core 1.0 §3.1.2.1
 */
export function withAccountWish(
  authorizationRequestUrl: string,
  wish: {
    readonly otherAccount?: boolean | undefined;
    readonly loginHint?: string | undefined;
  },
  { accountPrompt, hintParameter }: Pick<Provider, 'accountPrompt' | 'hintParameter'>,
): string {
  const prompt = wish.otherAccount ? accountPrompt : undefined;
  if (prompt === undefined && wish.loginHint === undefined) return authorizationRequestUrl;
  const url = new URL(authorizationRequestUrl);
  if (prompt !== undefined) {
    const configured = url.searchParams.get('prompt')?.split(' ') ?? [];
    const words = [...configured.filter((word) => word !== 'none' && word !== prompt), prompt];
    url.searchParams.set('prompt', words.join(' '));
  }
  const { loginHint } = wish;
  if (loginHint !== undefined) url.searchParams.set(hintParameter ?? 'login_hint', loginHint);
  return url.href;
}

/**
 * Adds the parameters of one login to the authorization request.
 *
 * @param authorizationRequestUrl from {@link createAuthorizationUrls}, with a query
 * @param login values in base64url @see RFC 6749 §10.12, RFC 7636 §4.3, OpenID Connect Core 1.0 §3.1.2.1
 */
export function withLoginParameters(
  authorizationRequestUrl: string,
  login: Readonly<Partial<Record<'state' | 'codeChallenge' | 'nonce', string | undefined>>>,
): string {
  // Base64url needs no encoding, and parsing the URL again would slow down every login.
  const { state, codeChallenge, nonce } = login;
  let url = authorizationRequestUrl;
  if (state !== undefined) url += `&state=${state}`;
  if (nonce !== undefined) url += `&nonce=${nonce}`;
  if (codeChallenge !== undefined) {
    url += `&code_challenge=${codeChallenge}&code_challenge_method=S256`;
  }
  return url;
}

/**
 * Chooses the nonce of an authorization request. With the scope `openid`, some servers require a nonce. Without it,
 * other servers refuse one.
 *
 * @param loginNonce the nonce of the login; undefined if the relay will not read the ID token
 */
export function chooseNonce(scope: string | undefined, loginNonce?: string): string | undefined {
  if (!scope?.split(' ').includes('openid')) return undefined;
  return loginNonce ?? randomBytes(16).toString('base64url');
}
