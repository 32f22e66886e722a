import { failureCodes, RelayError } from '../../src/errors.ts';
import type { RawAnswer } from './answer.ts';

/** Where the relay under attack may send a browser. */
export interface Targets {
  /** The authorization request without what differs from login to login. */
  readonly provider: string;
  /** The front end's page. */
  readonly frontEnd: string;
}

const failureStatuses: ReadonlySet<number> = new Set(
  failureCodes
    .filter((code) => code !== 'internal_error')
    .map((code) => new RelayError(code).status),
);

const once: readonly string[] = [
  'Cache-Control',
  'Content-Security-Policy',
  'Referrer-Policy',
  'X-Content-Type-Options',
  'X-Request-Id',
];
const permitted: ReadonlySet<string> = new Set([
  ...once,
  'Access-Control-Allow-Credentials',
  'Access-Control-Allow-Headers',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Access-Control-Max-Age',
  'Allow',
  'Connection',
  'Content-Length',
  'Content-Type',
  'Date',
  'Keep-Alive',
  'Location',
  'Retry-After',
  'Set-Cookie',
  'Vary',
  'WWW-Authenticate',
]);

/** Says in words what is wrong with an answer; undefined where nothing is. */
export function faultOf(
  { status, headers, body }: RawAnswer,
  targets: Targets,
): string | undefined {
  const values = (name: string) =>
    headers.filter(([one]) => one === name).map(([, value]) => value);
  for (const [name] of headers) {
    if (!permitted.has(name)) return `header ${name}`;
    if (name !== 'Set-Cookie' && values(name).length > 1) return `header ${name} twice`;
  }
  for (const name of once) if (values(name).length !== 1) return `no header ${name}`;
  const [location] = values('Location');
  if (status === 307)
    return body === '' ? faultOfTarget(location, targets) : 'redirect with a body';
  if (location !== undefined) return `Location with a ${status}`;
  if (status === 204) return body === '' ? undefined : '204 with a body';
  if (status !== 200 && !failureStatuses.has(status)) return `status ${status}`;
  if (!values('Content-Type')[0]?.startsWith('application/json')) return 'not JSON';
  // Only the answer to HEAD may lack what it announces, and only a whole one is looked at here.
  return body === '' ? undefined : faultOfBody(status, body);
}

function faultOfTarget(location: string | undefined, { provider, frontEnd }: Targets) {
  const isProvider = location?.startsWith(`${provider}&`) || location === provider;
  const isFrontEnd = location?.startsWith(`${frontEnd}?access_token=`);
  return isProvider || isFrontEnd ? undefined : `redirect to ${location}`;
}

function faultOfBody(status: number, body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null) return 'a body that is no object';
    const isError = Object.keys(value).join() === 'detail';
    return isError === status >= 400 ? undefined : `body of a ${status}: ${body}`;
  } catch {
    return `body that is no JSON: ${body}`;
  }
}
