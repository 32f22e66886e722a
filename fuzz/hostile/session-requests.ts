import type { Credentials } from './credentials.ts';
import { apiPath, frontEnds } from './front-ends.ts';
import type { Random } from './random.ts';
import { fieldValue, type Header, render, visible } from './render.ts';
import { hostileText, spoilt } from './text.ts';

const host = 'relay.example';

type Endpoint = readonly [method: string, path: string];

const endpoints: readonly [Endpoint, ...Endpoint[]] = [
  ['GET', '/auth/session'],
  ['HEAD', '/auth/session'],
  ['POST', '/auth/session/refresh'],
  ['POST', '/auth/logout'],
  ['GET', '/api/user'],
  ['HEAD', '/api/user'],
];

/** What may follow the path of the API, or lead out of it. */
const rests = [
  'repos/1',
  'repos?page=2',
  'a/../../token',
  '..%2f..%2ftoken',
  '%2e%2e/token',
  '..;/token',
  '%252e%252e/token',
  '/evil.example/',
  '\\evil.example',
  '@evil.example/',
  '?/../../token',
  '%00',
  '\xef\xbc\x8e\xef\xbc\x8e/token',
  '',
] as const;

/**
 * A request of a page with a session, valid or not, with these and other headers.
 *
 * @param headers the first is `Host`
 */
export function sessionRequest(
  random: Random,
  { sessions }: Credentials,
  [givenHost, ...headers]: readonly Header[],
): string {
  const { frontEnd, good, foreign, hopeless } = sessions;
  const [method, path] = random.oneIn(3) ? apiRequest(random) : random.pick(endpoints);
  const isForeign = random.oneIn(3);
  const ownCookie = random.pick([good, good, good, hopeless, spoilt(random, good)]);
  const page: Header[] = [
    ['Host', host],
    ['Origin', frontEnds[frontEnd].origin],
    ['X-Login-Relay', '1'],
    ['Sec-Fetch-Site', 'same-site'],
  ];
  const all = [
    ...(isForeign ? altered(random, page) : page),
    // A browser sends each once.
    ...headers.filter(([name]) => !['Origin', 'Sec-Fetch-Site'].includes(name)),
    ['Cookie', isForeign ? foreign : fieldValue(ownCookie)] as const,
  ];
  const isAlteredHost = !isForeign && random.oneIn(10) && givenHost !== undefined;
  const sent = isAlteredHost ? [givenHost, ...all.slice(1)] : all;
  const target = path + (random.oneIn(3) && path.startsWith('/auth/') ? query(random) : '');
  const sentMethod = random.oneIn(16) ? random.pick(['PUT', 'DELETE', 'PATCH', 'OPTIONS']) : method;
  return withBody(random, sentMethod, target, sent);
}

function apiRequest(random: Random): Endpoint {
  const rest = random.oneIn(4) ? visible(hostileText(random)) : random.pick(rests);
  const own = random.oneIn(2) ? 'repos/1' : visible(rest);
  return [random.pick(['GET', 'GET', 'HEAD', 'POST']), apiPath + own];
}

/** The headers of a page with one of them missing, or not the page's. */
function altered(random: Random, page: readonly Header[]): Header[] {
  const [missing, instead] = random.pick<() => readonly [string, Header?]>([
    () => ['X-Login-Relay'],
    () => ['X-Login-Relay', ['X-Login-Relay', random.pick(['0', '', '1, 1', 'true', '01'])]],
    () => ['Sec-Fetch-Site', ['Sec-Fetch-Site', 'cross-site']],
    () => ['Host', ['Host', random.pick(['evil.example', 'relay.example.evil.example', '[::1]'])]],
    () => ['Origin', ['Origin', anyForeignOrigin(random)]],
  ])();
  const kept = page.filter(([name]) => name !== missing);
  // The first is always `Host`.
  if (instead === undefined) return kept;
  return missing === 'Host' ? [instead, ...kept] : [...kept, instead];
}

function anyForeignOrigin(random: Random): string {
  return random.pick<() => string>([
    () => frontEnds.app.origin,
    () => `https://${host}`,
    () => `https://evil.${host}`,
    () => 'http://wiki.relay.example',
    () => 'https://wiki.relay.example:444',
    () => 'https://wiki.relay.example.evil.example',
    () => 'null',
    () => `x${fieldValue(hostileText(random)).trim()}`,
  ])();
}

function query(random: Random): string {
  return random.pick([
    '?client_id=wiki',
    '?client_id=desk',
    '?client_id=app',
    '?client_id=wiki&client_id=desk',
    '?client_id=',
    '?provider=house',
    '?provider=provider',
    `?${visible(hostileText(random))}`,
  ]);
}

function withBody(random: Random, method: string, target: string, headers: readonly Header[]): string {
  const body = method === 'GET' || method === 'HEAD' || random.oneIn(2) ? '' : hostileText(random);
  const framing: Header[] = body === '' ? [] : [['Content-Length', `${body.length}`]];
  return render(method, target, [...headers, ...framing]) + body;
}
