import type { Agent } from 'node:http';
import { keysFromFile } from '../../src/keys.ts';
import { Secret } from '../../src/secret.ts';
import { createSessionSeal } from '../../src/session/content.ts';
import type { RawAnswer } from './answer.ts';
import { call } from './call.ts';
import { apiPath, frontEnds, registrations } from './front-ends.ts';
import { stateKey } from './relay.ts';
import { faultOf, type Targets } from './rules.ts';

const seal = createSessionSeal(keysFromFile([new Secret(stateKey)]).session);

interface SessionRequest {
  readonly kind: string;
  readonly path: string;
  readonly isPost: boolean;
  readonly statuses: readonly number[];
}

const requests: readonly SessionRequest[] = [
  {
    kind: 'session refresh',
    path: '/auth/session/refresh',
    isPost: true,
    statuses: [200, 401, 502, 504],
  },
  { kind: 'session user', path: '/api/user', isPost: false, statuses: [200, 401, 502, 503, 504] },
  { kind: 'session logout', path: '/auth/logout', isPost: true, statuses: [200] },
  { kind: 'api', path: `${apiPath}repos`, isPost: false, statuses: [] },
];

/**
 * Makes the relay refresh a session, look its user up, log it out, or call the API for it. The number determines the
 * answer of the provider.
 *
 * @returns the kind of the call, and its outcome
 */
export async function sessionCall(
  { port, targets }: { readonly port: number; readonly targets: Targets },
  number: number,
  agent: Agent,
): Promise<readonly [kind: string, end: string]> {
  const { kind, path, isPost, statuses } = pickOf(number);
  const headers = {
    Host: 'relay.example',
    Origin: frontEnds.wiki.origin,
    'X-Login-Relay': '1',
    Cookie: `__Host-Http-lr_session_wiki=${sealedSession(number, targets.providerOrigin)}`,
  };
  const answer = await call(port, path, headers, agent, isPost ? {} : undefined).catch(brokenOff);
  if (answer === undefined) return [kind, kind === 'api' ? 'broken off' : 'fault: broken off'];
  const fault =
    kind === 'api'
      ? faultOfApi(answer)
      : (faultOf(answer, targets) ??
        (statuses.includes(answer.status) ? undefined : `status ${answer.status}`));
  return [kind, fault === undefined ? String(answer.status) : `fault: ${fault}`];
}

function pickOf(number: number): SessionRequest {
  const found = requests[Math.floor(number / 8) % requests.length];
  if (found === undefined) throw new Error('there are no requests');
  return found;
}

function sealedSession(number: number, providerOrigin: string): string {
  const now = Math.floor(Date.now() / 1000);
  const content = {
    id: `${number}`,
    registration: 'house',
    audience: `house ${providerOrigin}/token - ${registrations.house}`,
    frontEnd: 'wiki',
    accessToken: `hostile-${number}`,
    refreshToken: `hostile-${number}`,
    loggedInAt: now,
    endsAt: now + 3600,
    idleEndsAt: now + 3600,
  };
  return seal.seal(content, `wiki ${frontEnds.wiki.origin}`);
}

/** The relay breaks off a body that the API breaks off. Any other error is a fault. */
function brokenOff(error: unknown): undefined {
  const isReset = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
  if (!isReset) throw error;
}

const neverPassed = [
  ...['set-cookie', 'refresh', 'upgrade', 'trailer', 'proxy-authenticate', 'statuscode'],
  ...['__proto__', 'constructor'],
];

/** Any status and any body of the API may reach the page, but nothing that acts on the origin of the relay. */
function faultOfApi({ status, headers }: RawAnswer): string | undefined {
  if (status < 200 || status > 599 || status === 407) return `status ${status}`;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (neverPassed.includes(lower)) return `header ${name}`;
    const isForeignTarget =
      lower === 'location' && !value.startsWith(`https://relay.example${apiPath}`);
    if (isForeignTarget) return `redirect to ${value}`;
    if (lower === 'access-control-allow-origin' && value !== frontEnds.wiki.origin) return value;
  }
  const policy = headers.find(([name]) => name === 'Content-Security-Policy')?.[1] ?? '';
  return policy.startsWith("default-src 'none'; frame-ancestors 'none'") ? undefined : policy;
}
