import type { Agent } from 'node:http';
import * as v from 'valibot';
import { deriveKeysFromFile } from '../../src/sealing/keys.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { createSessionSeal } from '../../src/session/sessions.ts';
import { request } from '../../test/harness/client/request.ts';
import { codeVerifier, sealCode, sealRefreshToken } from '../../test/harness/login/sealed-grants.ts';
import type { RawAnswer } from './answer.ts';
import { apiPath, frontEnds, stateKey } from './front-ends.ts';
import { faultOf, type Targets } from './rules.ts';
import { sessionOf } from './session-cookies.ts';

type Words = Readonly<Record<string, string>>;

/** A kind of request that makes the relay call the provider. */
interface Kind {
  readonly name: string;
  readonly path: string;
  /** Makes the form of a POST. The number is in what the provider gets. */
  readonly form?: (number: number, providerOrigin: string) => Words;
  readonly headers?: (number: number, providerOrigin: string) => Words;
  readonly statuses: readonly number[];
  /** What is wrong beside the status; by default, by the rules for every answer. */
  readonly faultOf?: (answer: RawAnswer, targets: Targets) => string | undefined;
}

const credential = (number: number) => `hostile-${number}`;
const tokenUrlAt = (providerOrigin: string) => ({ tokenUrl: `${providerOrigin}/token` });
const seal = createSessionSeal(deriveKeysFromFile([new Secret(stateKey)]).session);

const ofPage = (number: number, providerOrigin: string) => {
  const tokens = { accessToken: credential(number), refreshToken: credential(number) };
  const content = { ...sessionOf('wiki', providerOrigin), id: `${number}`, ...tokens };
  const cookie = seal.seal(content, `wiki ${frontEnds.wiki.origin}`);
  return {
    Origin: frontEnds.wiki.origin,
    'X-Login-Relay': '1',
    Cookie: `__Host-Http-lr_session_wiki=${cookie}`,
  };
};
const ofEndpoint = { statuses: [200, 400, 502, 504] };
const ofSession = { headers: ofPage, form: () => ({}) };

const api: Kind = {
  name: 'api',
  path: `${apiPath}repos`,
  headers: ofPage,
  statuses: Array.from({ length: 400 }, (_, index) => 200 + index),
  faultOf: faultOfApi,
};

const kinds: readonly Kind[] = [
  { name: 'token', path: '/auth/provider/callback?code=', statuses: [307, 400, 502, 504] },
  {
    name: 'user',
    path: '/api/user',
    statuses: [200, 401, 502, 504],
    faultOf: faultOfUser,
    headers: (number) => ({ Authorization: `Bearer ${credential(number)}` }),
  },
  {
    name: 'redemption',
    path: '/auth/provider/token',
    ...ofEndpoint,
    faultOf: faultOfToken,
    form(number, origin) {
      const sealing = { key: stateKey, providerCode: credential(number) };
      const code = sealCode(tokenUrlAt(origin), sealing);
      return { grant_type: 'authorization_code', code_verifier: codeVerifier, code };
    },
  },
  {
    name: 'refresh',
    path: '/auth/provider/token',
    ...ofEndpoint,
    faultOf: faultOfToken,
    form: (number, origin) => ({
      grant_type: 'refresh_token',
      refresh_token: refreshToken(number, origin),
    }),
  },
  {
    name: 'revocation',
    path: '/auth/provider/revoke',
    ...ofEndpoint,
    form: (number, origin) => ({ token: refreshToken(number, origin) }),
    faultOf: (answer, targets) =>
      faultOfEndpoint(answer, targets) ?? (answer.status === 200 && answer.body !== '{}' ? answer.body : undefined),
  },
  {
    name: 'session refresh',
    path: '/auth/session/refresh',
    ...ofSession,
    statuses: [200, 401, 502, 504],
  },
  {
    name: 'session user',
    path: '/api/user',
    headers: ofPage,
    statuses: [200, 401, 502, 503, 504],
  },
  { name: 'session logout', path: '/auth/logout', ...ofSession, statuses: [200] },
  api,
];

function refreshToken(number: number, providerOrigin: string): string {
  const providerToken = { refreshToken: credential(number) };
  return sealRefreshToken(tokenUrlAt(providerOrigin), stateKey, { providerToken });
}

/**
 * Makes the relay call the provider. The number determines the kind of the call, and the answer of the provider.
 *
 * @returns the kind, and the outcome
 */
export async function hostileCall(
  { port, targets }: { readonly port: number; readonly targets: Targets },
  number: number,
  agent: Agent,
): Promise<readonly [kind: string, end: string]> {
  const kind = kinds[number % kinds.length] ?? api;
  const answer = await answerTo(kind, number, port, targets.providerOrigin, agent);
  // The relay breaks off a body that the API breaks off.
  if (answer === undefined) return [kind.name, kind === api ? 'broken off' : 'fault: broken off'];
  const fault = (kind.faultOf ?? faultOf)(answer, targets);
  const { status } = answer;
  if (fault === undefined && kind.statuses.includes(status)) return [kind.name, String(status)];
  return [kind.name, `fault: ${fault ?? `status ${status}`}`];
}

async function answerTo(
  { path, form, headers }: Kind,
  number: number,
  port: number,
  origin: string,
  agent: Agent,
): Promise<RawAnswer | undefined> {
  const names: Words = path.startsWith('/auth/provider/') ? { client_id: 'app' } : {};
  const body = form && new URLSearchParams({ ...names, ...form(number, origin) }).toString();
  const framing = body !== undefined && {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': `${body.length}`,
  };
  try {
    const answer = await request(port, {
      path: path.endsWith('=') ? path + credential(number) : path,
      headers: Object.entries({ ...headers?.(number, origin), ...framing }),
      ...(body !== undefined && { method: 'POST', body }),
      agent,
      authority: 'relay.example',
      repeatable: true,
      // A redirect may carry a long token.
      maxHeaderSize: 64 * 1024,
    });
    const { status, rawHeaders } = answer;
    const pairs = rawHeaders.flatMap((name, index) =>
      index % 2 ? [] : [[name, rawHeaders[index + 1] ?? ''] as const],
    );
    return { status, headers: pairs, body: answer.body.toString('latin1') };
  } catch (error) {
    if (Object(error).code === 'ECONNRESET') return undefined;
    throw error;
  }
}

function faultOfUser(answer: RawAnswer, targets: Targets): string | undefined {
  if (answer.status !== 200) return faultOf(answer, targets);
  const value: unknown = JSON.parse(Buffer.from(answer.body, 'latin1').toString());
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? undefined : 'a record that is none';
}

/** Checks that an answer is valid for OAuth clients. */
function faultOfEndpoint(answer: RawAnswer, targets: Targets): string | undefined {
  const fault = faultOf(answer, targets);
  if (fault !== undefined || answer.status < 400) return fault;
  return 'error' in Object(JSON.parse(answer.body)) ? undefined : `no error: ${answer.body}`;
}

const seconds = v.optional(v.pipe(v.number(), v.minValue(0)));
const tokenAnswer = v.strictObject({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  token_type: v.pipe(v.string(), v.nonEmpty()),
  expires_in: seconds,
  scope: v.optional(v.string()),
  // Nothing that only the provider may see.
  refresh_token: v.optional(
    v.pipe(
      v.string(),
      v.check((token) => !/hostile-|renewed-/.test(token)),
    ),
  ),
  refresh_token_expires_in: seconds,
});

function faultOfToken(answer: RawAnswer, targets: Targets): string | undefined {
  const fault = faultOfEndpoint(answer, targets);
  if (fault !== undefined || answer.status >= 400) return fault;
  return v.is(tokenAnswer, JSON.parse(answer.body)) ? undefined : answer.body;
}

const neverPassed = [
  'set-cookie',
  'refresh',
  'upgrade',
  'trailer',
  'proxy-authenticate',
  'statuscode',
  '__proto__',
  'constructor',
];

/** Any status and any body of the API may reach the page, but nothing that acts on the origin of the relay. */
function faultOfApi({ status, headers }: RawAnswer): string | undefined {
  if (status === 407) return `status ${status}`;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (neverPassed.includes(lower)) return `header ${name}`;
    const isForeignTarget = lower === 'location' && !value.startsWith(`https://relay.example${apiPath}`);
    if (isForeignTarget) return `redirect to ${value}`;
    if (lower === 'access-control-allow-origin' && value !== frontEnds.wiki.origin) return value;
  }
  const policy = headers.find(([name]) => name === 'Content-Security-Policy')?.[1] ?? '';
  return policy.startsWith("default-src 'none'; frame-ancestors 'none'") ? undefined : policy;
}
