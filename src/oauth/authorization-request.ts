import { randomBytes } from 'node:crypto';
import type { ExtraParameters, Provider } from '../providers/provider.ts';
import { optional, withParameters } from './query.ts';
import { scopeInRequest } from './scope.ts';

/**
 * Builds the authorization request at a provider, without the parameters of one login. It keeps an existing query of
 * the endpoint.
 *
 * @returns a function that gives the URL for a part of the configured scope (default: all of it), with `refresh` one
 *   that also asks for a refresh token. URLs for the whole scope are built only once.
 * @see RFC 6749 §4.1.1
 */
export function authorizationRequest(
  client: { readonly clientId: string; readonly callbackUri: string },
  provider: Pick<Provider, 'authorizeUrl' | 'scope' | 'scopeSeparator' | 'authorizeParams' | 'refreshRequest'>,
) {
  const { authorizeUrl, authorizeParams = [], refreshRequest = {}, scope: whole } = provider;
  const configured = new URL(authorizeUrl).searchParams;
  for (const [name, value] of authorizeParams) configured.append(name, value);
  const forRefresh = (refreshRequest.parameters ?? []).filter(([name]) => !configured.has(name));

  function urlFor(asked: string | undefined, refresh: boolean): string {
    const scope = refresh ? union(asked, refreshRequest.scope) : asked;
    const parameters: ExtraParameters = [
      ['response_type', 'code'],
      ['client_id', client.clientId],
      ['redirect_uri', client.callbackUri],
      ...optional('scope', scopeInRequest(scope, provider.scopeSeparator)),
      ...authorizeParams,
      ...(refresh ? forRefresh : []),
    ];
    return withParameters(authorizeUrl, parameters);
  }

  const plain = urlFor(whole, false);
  const renewable = urlFor(whole, true);
  return (login: { readonly scope?: string | undefined; readonly refresh?: boolean } = {}) => {
    const { scope = whole, refresh = false } = login;
    if (scope !== whole) return urlFor(scope, refresh);
    return refresh ? renewable : plain;
  };
}

function union(scope: string | undefined, more: string | undefined): string | undefined {
  if (more === undefined) return scope;
  return [...new Set([...(scope?.split(' ') ?? []), ...more.split(' ')])].join(' ');
}

/**
 * Tells the provider which account the person probably uses, or asks it to offer another one.
 *
 * @param wish from the start of the login
 * @see OpenID Connect Core 1.0 §3.1.2.1
 */
export function withAccount(
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
 * @param authorizationRequestUrl from {@link authorizationRequest}, with a query
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
 * The nonce for one login, if the scope contains `openid`: some servers require a nonce then, and others refuse it
 * otherwise.
 *
 * @param ofLogin the nonce of the login; undefined if the relay will not read the ID token
 */
export function nonceFor(scope: string | undefined, ofLogin?: string): string | undefined {
  if (!scope?.split(' ').includes('openid')) return undefined;
  return ofLogin ?? randomBytes(16).toString('base64url');
}
