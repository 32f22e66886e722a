import { hash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type Consenting, type FakeBrowser, granted } from '../browser/fake-browser.ts';
import { type Answer, send } from '../client/http-client.ts';
import { expectNoneRemembered, remember } from '../expect/canaries.ts';
import { expectRedirect } from '../expect/expectations.ts';
import { baseUrl, frontendOrigin, loginPath } from '../relay/relay-under-test.ts';

/** The relay's name in `iss`. */
export const issuer = baseUrl + loginPath;
export const tokenPath = `${loginPath}/token`;
/** The only redirect URI of the front end, unless a test says otherwise. */
export const redirectUri = `${frontendOrigin}/`;

/** The parameters of a request. An undefined parameter is left out, and a list repeats its parameter. */
export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A front end's request for a login, with the secrets of the front end. */
export interface OAuthStart {
  readonly parameters: Parameters;
  readonly state: string;
  readonly codeVerifier: string;
}

/** The authorization response: the parameters at the redirect URI. */
export interface OAuthResponse {
  readonly start: OAuthStart;
  readonly location: URL;
  readonly code: string;
}

/** A request of the front end `app`, with changes. */
export function oauthStart(changes: Parameters = {}): OAuthStart {
  const codeVerifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const parameters = {
    response_type: 'code',
    client_id: 'app',
    redirect_uri: redirectUri,
    code_challenge: hash('sha256', codeVerifier, 'base64url'),
    code_challenge_method: 'S256',
    state,
    ...changes,
  };
  return { parameters, state, codeVerifier };
}

/** Parameters of a form. */
export function encoded(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one]));
  return new URLSearchParams(pairs).toString();
}

/** Opens the start of a login. */
export async function openStart(browser: FakeBrowser, start: OAuthStart): Promise<Answer> {
  return await browser.open(`${loginPath}?${encoded(start.parameters)}`);
}

/** Logs in, up to the front end's redirect URI. */
export async function logInTo(
  browser: FakeBrowser,
  { provider }: { readonly provider: Consenting },
  start: OAuthStart = oauthStart(),
): Promise<OAuthResponse> {
  const request = expectRedirect(await openStart(browser, start));
  const location = expectRedirect(await browser.open(granted(provider, request)));
  expect(location.searchParams.get('iss')).to.equal(issuer);
  const code = location.searchParams.get('code') ?? '';
  remember(request.searchParams.get('state') ?? '', code, start.codeVerifier);
  return { start, location, code };
}

/** The parameters of the redemption, with changes. */
export function redemption({ start, code }: OAuthResponse, changes: Parameters = {}): Parameters {
  return {
    grant_type: 'authorization_code',
    client_id: 'app',
    redirect_uri: redirectUri,
    code,
    code_verifier: start.codeVerifier,
    ...changes,
  };
}

/** Sends a request to the token endpoint, like the page of the front end. */
export async function requestToken(
  { port }: { readonly port: number },
  parameters: Parameters,
  headers: [name: string, value: string][] = [],
  sending: { readonly origin?: string; readonly path?: string; readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  const { origin = frontendOrigin, ...options } = sending;
  const body = encoded(parameters);
  const form: [string, string][] = [
    ['Origin', origin],
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['Content-Length', `${Buffer.byteLength(body)}`],
  ];
  const all = [...form, ...headers];
  return await send(port, { method: 'POST', path: tokenPath, headers: all, body, ...options });
}

/** Checks for an OAuth error response without any secret that a browser got. @see RFC 6749 §5.2 */
export function expectOAuthError(answer: Answer, error: string, status = 400): void {
  const body: unknown = JSON.parse(`${answer.body}`);
  expect(body).to.have.keys('error', 'error_description', 'detail').and.to.include({ error });
  expect(answer.status).to.equal(status);
  expect(answer.headers['cache-control']).to.equal('no-store');
  expectNoneRemembered(`${answer.rawHeaders.join('\n')}\n${answer.body}`);
}
