import { randomBytes, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import getRawBody from 'raw-body';
import { deriveCodeChallenge } from '../login/pkce.ts';
import { createExpiringSecrets } from '../memory/expiring-map.ts';
import { optionalParameter, withParameters } from '../oauth/query.ts';
import { pageHeaders, parseName, renderLoginPage } from './login-page.ts';

/** The only client of the provider. It sends its secret in the body. */
type Client = Readonly<Record<'clientId' | 'clientSecret' | 'callbackUri' | 'name', string>>;

/** A login, to which its code and its tokens lead. */
interface Login {
  readonly name: string;
  readonly scope: string | null;
  readonly challenge: string;
  isRevoked: boolean;
}

const minute = 60_000;
const hour = 3_600_000;
const day = 86_400_000;
const maxLogins = 1_000;
const maxFormSize = 4_096;

/**
 * The cookie that binds a login page to its browser. Cookies ignore ports, so the name and the path must not be those of
 * other servers on localhost.
 */
const cookie = 'demo_provider_login';

/**
 * Creates an OAuth provider in memory that trusts any name, for the demo and for tests only. It demands PKCE, gives
 * refresh tokens, and accepts each once. It keeps no login session, so that each authorization request shows the login
 * page.
 *
 * @param issuer its own address, without a path: `http://localhost:8002`
 * @param onError called with errors of the provider itself
 */
export function createDemoProvider(issuer: string, client: Client, onError: (error: Error) => void): RequestListener {
  const codes = createExpiringSecrets<Login>(minute, maxLogins, Date.now);
  const accessTokens = createExpiringSecrets<Login>(hour, maxLogins, Date.now);
  const refreshTokens = createExpiringSecrets<Login>(day, maxLogins, Date.now);
  const clientParameters = { client_id: client.clientId, redirect_uri: client.callbackUri };

  /** Shows the login page, and accepts its form. The query is the authorization request. @see RFC 6749 §4.1 */
  async function authorize(ctx: Context): Promise<void> {
    const request = new URLSearchParams(ctx.querystring);
    if (!hasParameters(request, clientParameters)) return respond(ctx, 400, 'Unknown client or redirect URI');
    const redirectToClient = (result: Readonly<Record<string, string>>) => {
      const state = optionalParameter('state', request.get('state') ?? undefined);
      const parameters = [...Object.entries({ ...result, iss: issuer }), ...state];
      ctx.redirect(withParameters(client.callbackUri, parameters));
      ctx.status = 303;
    };
    const challenge = request.get('code_challenge');
    const isSupported = hasParameters(request, { response_type: 'code', code_challenge_method: 'S256' });
    if (challenge === null || !isSupported) return redirectToClient({ error: 'invalid_request' });

    const browser = ctx.cookies.get(cookie) ?? randomUUID();
    const page = (problem?: string) => renderLoginPage(client.name, browser, problem);
    if (ctx.method === 'GET') {
      ctx.cookies.set(cookie, browser, { path: '/authorize', sameSite: 'lax' });
      return respond(ctx, 200, page());
    }
    const form = await readForm(ctx);
    if (!hasParameters(form, { browser })) return respond(ctx, 400, 'Another browser started this login');
    if (hasParameters(form, { action: 'cancel' })) return redirectToClient({ error: 'access_denied' });
    const name = parseName(form.get('name') ?? '');
    if (name === undefined) {
      return respond(ctx, 400, page('Please enter a name of up to 60 characters.'));
    }
    const login = { name, scope: request.get('scope'), challenge, isRevoked: false };
    redirectToClient({ code: issueToken(codes, login) });
  }

  /** Reads the form of the client; undefined after it refused wrong credentials. @see RFC 6749 §2.3.1 */
  async function readClientForm(ctx: Context): Promise<URLSearchParams | undefined> {
    const form = await readForm(ctx);
    const { clientId: client_id, clientSecret: client_secret } = client;
    if (hasParameters(form, { client_id, client_secret })) return form;
    respond(ctx, 401, { error: 'invalid_client' });
    return undefined;
  }

  /** Exchanges a code or a refresh token. @see RFC 6749 §4.1.3, §5.1, §6 */
  async function giveTokens(ctx: Context): Promise<void> {
    const form = await readClientForm(ctx);
    if (form === undefined) return;
    const ofRefreshToken = takeLogin(refreshTokens, form.get('refresh_token'));
    // A wrong verifier spends the code, because the code has leaked to another client then.
    const ofCode = takeLogin(codes, form.get('code'));
    const isProven = ofCode?.challenge === deriveCodeChallenge(form.get('code_verifier') ?? '');
    const login = ofRefreshToken ?? (isProven && hasParameters(form, clientParameters) ? ofCode : undefined);
    if (login === undefined || login.isRevoked) return respond(ctx, 400, { error: 'invalid_grant' });
    respond(ctx, 200, {
      access_token: issueToken(accessTokens, login),
      token_type: 'Bearer',
      expires_in: hour / 1_000,
      refresh_token: issueToken(refreshTokens, login),
      scope: login.scope,
    });
  }

  /** Revokes all tokens of a login. @see RFC 7009 §2 */
  async function revoke(ctx: Context): Promise<void> {
    const form = await readClientForm(ctx);
    if (form === undefined) return;
    const token = form.get('token') ?? '';
    const login = accessTokens.get(token) ?? refreshTokens.get(token);
    if (login) login.isRevoked = true;
    respond(ctx, 200, {});
  }

  /** Answers the user lookup. */
  function showUser(ctx: Context): void {
    const [, token = ''] = ctx.get('authorization').split(' ');
    const login = accessTokens.get(token);
    const record = login && !login.isRevoked ? createUserRecord(login.name) : undefined;
    respond(ctx, record ? 200 : 401, record ?? { error: 'invalid_token' });
  }

  const router = new Router()
    .all('/authorize', authorize)
    .post('/token', giveTokens)
    .post('/revoke', revoke)
    .get('/me', showUser);
  const app = new Koa();
  app.on('error', onError);
  app.use((ctx, next) => {
    ctx.set(pageHeaders);
    return next();
  });
  app.use(router.routes());
  return app.callback();
}

/** Creates a user record with GitHub's fields, because the relay of the demo uses the preset of GitHub. */
function createUserRecord(name: string) {
  const id = Buffer.from(name).toString('base64url');
  return { id, login: name.toLowerCase().replaceAll(' ', '-'), name };
}

function respond(ctx: Context, status: number, body: string | object): void {
  ctx.status = status;
  ctx.body = body;
}

/** Reads the form in a body. It is empty if the body is too long or breaks off. */
async function readForm({ req }: Context): Promise<URLSearchParams> {
  const options = { limit: maxFormSize, encoding: 'utf8' } as const;
  return new URLSearchParams(await getRawBody(req, options).catch(() => ''));
}

/** Whether a query or form has these parameters with these values. */
function hasParameters(given: URLSearchParams, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, value]) => given.get(name) === value);
}

type Logins = ReturnType<typeof createExpiringSecrets<Login>>;

/** Makes a random code or token for a login. */
function issueToken(logins: Logins, login: Login): string {
  const token = randomBytes(32).toString('base64url');
  logins.set(token, login);
  return token;
}

/** Finds the login of a code or token, and forgets the code or token, which works once. */
function takeLogin(logins: Logins, token: string | null): Login | undefined {
  const login = logins.get(token ?? '');
  logins.delete(token ?? '');
  return login;
}
