import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { limits } from '../../src/limits.ts';
import { manyAtOnce } from '../../test/harness/client/many-at-once.ts';
import { RawConnection } from '../../test/harness/client/raw-connection.ts';
import { request, type Sending } from '../../test/harness/client/request.ts';
import { cpuTimeOf } from '../../test/harness/system/processes.ts';
import { secretFile } from '../../test/harness/system/secret-file.ts';
import { apiPath, doorSecret, frontEnds, pageOrigin } from './front-ends.ts';
import type { Random } from './random.ts';
import { visible } from './render.ts';

/** What makes a request expensive: a part that is repeated, the place where it is, and the path. */
type Recipe = readonly [path: string, place: string, part: string];

/** A request that may be expensive. */
export interface Costly {
  readonly name: string;
  /** As bytes, it ends its connection. */
  readonly sending: Sending | string;
}

const gets = [
  '/auth',
  '/auth/provider',
  '/auth/provider/app',
  '/auth/provider/callback',
  '/auth/house/wiki',
  '/api/user',
  '/auth/session',
  '/healthz',
  '/client.js',
  '/none',
  `${apiPath}repos`,
  '/.well-known/oauth-authorization-server/auth/provider',
];
const posts = ['/auth/provider/token', '/auth/provider/revoke', '/auth/session/refresh', '/auth/logout'];

const oauth = `response_type=code&client_id=app&redirect_uri=${frontEnds.app.pages[1]}`;
const queries = [
  '',
  'state=',
  'code=',
  'client_id=',
  'provider=',
  'return_to=',
  'site_id=a&scope=',
  `${oauth}&scope=`,
  `${oauth}&code_challenge=`,
  `${oauth}&state=`,
].map((start) => `?${start}`);
const headers = [
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Access-Control-Request-Headers',
  'Authorization',
  'Cache-Control',
  'Connection',
  'Content-Encoding',
  'Content-Type',
  'Cookie',
  'DPoP',
  'Expect',
  'Forwarded',
  'Host',
  'If-Modified-Since',
  'If-None-Match',
  'Mcp-Method',
  'TE',
  'Upgrade',
  'Via',
  'X-Forwarded-Host',
  'Origin',
  'Purpose',
  'Range',
  'Referer',
  'Sec-Fetch-Dest',
  'Sec-Fetch-Mode',
  'Sec-Fetch-Site',
  'Sec-Purpose',
  'Transfer-Encoding',
  'User-Agent',
  'X-Forwarded-For',
  'X-Login-Relay',
];
const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const places = [...queries, '/', ...headers, 'headers', form, json];

const parts = [
  '%&',
  '%ff&',
  'a&',
  '&',
  'a=%ff&',
  'state=a&',
  '+',
  '%',
  '%ff',
  '%f0%9f%94%91',
  '/',
  '%2f/',
  'a;',
  '=;',
  'a=b;',
  'lr_;',
  '__Host-Http-lr_=;',
  '__Host-Http-lr_login_finished=a.',
  '\t',
  ' ',
  ',',
  '10.0.0.1,',
  '::1,',
  'a/b,',
  'a/b;q=0.1,',
  '"a",',
  'W/"a",',
  'a.',
  'https://a',
  '\xff',
  '[',
  '{"a":',
  '"\\u0061"',
];

/** Those that once cost 10 to 800 starts of a login. */
const knownRecipes: readonly Recipe[] = [
  ...['%&', '%ff&', '+'].map((part): Recipe => ['/auth/provider', '?', part]),
  ['/auth/provider/callback', '?', '%&'],
  ['/auth/session', '?', 'a=%ff&'],
  ['/auth/provider/token', form, '%&'],
  ['/auth/provider/callback', 'Cookie', 'a=b;'],
  ['/auth/provider/callback', 'Accept', 'a/b;q=0.1,'],
  ['/auth/provider/callback', 'X-Forwarded-For', '10.0.0.1,'],
  ['/api/user', 'Authorization', ' '],
  ['/auth/provider', 'headers', ''],
  ['/client.js', 'Accept-Encoding', ','],
  ['/client.js', 'Accept-Encoding', 'a/b;q=0.1,'],
  ['/client.js', 'If-None-Match', '"a",'],
];

const costly = (recipe: Recipe): Costly => ({
  name: recipe.join(' '),
  sending: requestOf(recipe),
});

export const knownCosts = (): Costly[] => [
  ...knownRecipes.map(costly),
  { name: 'a secret of %ff&', sending: introspection('token=a', [basic(filled('%ff&', 40_000))]) },
  { name: 'a sealed token of no resource', sending: revocation(sealed(4605)) },
  { name: 'tiny chunks', sending: chunked('/auth/provider/token', filling('1\r\nx\r\n')) },
];

export function anyCost(random: Random): Costly {
  return costly([random.pick([...gets, ...posts]), random.pick(places), random.pick(parts)]);
}

const room = limits.headerSizeWithCookies - 1000;
const filled = (part: string, length: number) => visible(part.repeat(length / part.length));

const basic = (secret: string): [string, string] => [
  'Authorization',
  `Basic ${Buffer.from(`notes:${secret}`).toString('base64')}`,
];

const post = (path: string, body: string, more: [string, string][] = []): Sending => ({
  method: 'POST',
  path,
  body,
  headers: [['Content-Type', form], ['Content-Length', `${Buffer.byteLength(body)}`], ...more],
});
const introspection = (body: string, more?: [string, string][]) => post('/auth/provider/introspect', body, more);
const revocation = (token: string) => post('/auth/provider/revoke', `client_id=tools&token=${token}`);

/** What looks like a text of the relay, and is none. */
const sealed = (length: number) => `lr1_${randomBytes(length).toString('base64url')}`;

const bodySize = 96 * 1024;
const filling = (part: string) => part.repeat(bodySize / part.length);
const chunked = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: relay.example\r\nContent-Type: ${form}\r\nConnection: close\r\n` +
  `Transfer-Encoding: chunked\r\n\r\n${body}`;

/** Bodies in chunks of every kind, and many requests in one piece: what the parser of HTTP gets to do. */
export function framingCosts(): Costly[] {
  const chunks = [
    '1\r\nx\r\n',
    '01\r\nx\r\n',
    '1;\r\nx\r\n',
    '1;a=b\r\nx\r\n',
    `1;${'a;'.repeat(100)}\r\nx\r\n`,
    `1;${'a'.repeat(8000)}\r\nx\r\n`,
    '1;a="b"\r\nx\r\n',
    `f\r\n${'x'.repeat(15)}\r\n`,
    `40\r\n${'x'.repeat(64)}\r\n`,
    `40\r\n${'x'.repeat(64)}\r\n1\r\nx\r\n`,
  ];
  const paths = [
    ...posts,
    '/auth/provider',
    '/auth/provider/introspect',
    '/auth/check/notes',
    `${apiPath}repos`,
    '/none',
  ];
  const bodies = [...chunks.map((chunk) => `${filling(chunk)}0\r\n\r\n`), `0\r\n${filling('a: b\r\n')}\r\n`];
  const get = 'GET /auth/provider HTTP/1.1\r\nHost: relay.example\r\n\r\n';
  const last = get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  const others = [`${filling('\r\n')}${last}`, 'GET /\r\n\r\n', `\0${get.repeat(1000)}`];
  const all = [...paths.flatMap((path) => bodies.map((body) => chunked(path, body))), ...others];
  return all.map((sending) => {
    const [, end = ''] = sending.split('\r\n\r\n');
    return { name: JSON.stringify(`${sending.slice(0, 40)} … ${end.slice(0, 20)}`), sending };
  });
}

/** What strangers send to the doors of a resource: tokens, secrets, and other spellings of either. */
export function doorCosts(): Costly[] {
  const long = sealed(4605);
  const tokens = [
    '',
    'junk',
    long,
    long.slice(0, 6000),
    `${long}=`,
    'a'.repeat(room),
    ...parts.map((part) => filled(part, room)),
  ];
  const values = tokens.flatMap((token) => ['Bearer ', 'bEaReR   ', 'Basic ', ''].map((scheme) => scheme + token));
  const headers: [string, string][][] = [
    ...values.map((value): [string, string][] => [['Authorization', value]]),
    ...tokens.map((token) => [basic(token.slice(0, (room * 3) / 4))]),
    ...['Bearer a', 'Basic YTpi', ''].map((value) =>
      Array.from({ length: 400 }, (): [string, string] => ['Authorization', value]),
    ),
    ...parts.map((part): [string, string][] => [['X-Forwarded-Uri', `/?${filled(part, room)}`]]),
  ];
  const secrets = ['wrong', doorSecret];
  const bodies = [
    ...secrets.flatMap((secret) => tokens.map((token) => `client_id=notes&client_secret=${secret}&token=${token}`)),
    ...tokens.map((token) => `client_id=notes&client_secret=${token}&token=a`),
  ].map((body) => body.slice(0, limits.requestBodySize));
  return [
    ...headers.flatMap((more) => [{ path: '/auth/check/notes', headers: more }, introspection('token=a', more)]),
    ...bodies.map((body) => introspection(body)),
    ...tokens.map((token) => revocation(token.slice(0, 12_000))),
  ].map((sending) => {
    const { path, headers: all, body = '' }: Sending = sending;
    const [last] = all?.slice(-1) ?? [];
    const name = `${path} ${all?.length} ${last?.join(': ').slice(0, 60)} ${body.slice(0, 90)}`;
    return { name, sending };
  });
}

/** What strangers send to the door that opens to browsers: cookies, tickets, ways back, and callbacks. */
export function browserDoorCosts(): Costly[] {
  const many = (name: (index: number) => string, value: string) =>
    Array.from({ length: room / (value.length + 50) }, (_, index) => `${name(index)}=${value}`).join('; ');
  const secret = randomBytes(32).toString('base64url');
  const login = (index: number) => `__Host-Http-lr_door_login_${index.toString(16).padStart(16, '0')}`;
  const piece = sealed(2850).slice(0, 3800);
  const cookies = [
    '',
    `__Host-Http-lr_door=${sealed(1000)}`,
    `__Host-Http-lr_door=${piece}; __Host-Http-lr_door.1=${piece}; __Host-Http-lr_door.2=${piece}`,
    many(login, secret),
    many(login, `${secret}.${sealed(150)}`),
    many((index) => `__Host-Http-lr_door_login_part_${index % 3}`, `0000000000000000.7.${sealed(400)}`),
    `__Host-Http-lr_door_login_finished=t1.${'0000000000000000.'.repeat(3000)}`,
    ...parts.map((part) => filled(part, room)),
  ];
  const targets = [
    '/',
    `/${'a'.repeat(8_000)}`,
    `/?${'%ff&'.repeat(2_000)}`,
    `/${'../'.repeat(3_000)}`,
    `/${'\xff'.repeat(900)}`,
  ];
  const asked = (target: string): [string, string][] => [
    ['X-Forwarded-Method', 'GET'],
    ['X-Forwarded-Uri', target],
    ['Accept', 'text/html'],
  ];
  const ofCheck = ['/auth/check/notes0', '/auth/answer/notes0'].flatMap((path) => [
    ...cookies.map((cookie) => ({ path, headers: [...asked('/'), ['Cookie', cookie]] as [string, string][] })),
    ...targets.map((target) => ({ path, headers: asked(target) })),
  ]);
  const starts = [sealed(300), sealed(5_000), ...parts.map((part) => filled(part, 10_000))].map((ticket) => ({
    path: `/auth/provider/door/notes0?state=${encodeURIComponent(ticket).slice(0, 12_000)}`,
  }));
  const atHost = [
    'callback?code=a&state=a',
    `callback?code=${sealed(3_000)}&state=${secret}`,
    'user',
    'logout',
  ].flatMap((path) =>
    cookies.map((cookie) => ({
      path: `/.login-relay/${path}`,
      authority: new URL(pageOrigin).host,
      headers: [
        ['Accept', 'text/html'],
        ['Cookie', cookie],
      ] as [string, string][],
    })),
  );
  return [...ofCheck, ...starts, ...atHost].map((sending: Sending) => {
    const [, last = ''] = sending.headers?.at(-1) ?? [];
    return { name: `${sending.path?.slice(0, 60)} ${last.slice(0, 60)} … ${last.length}`, sending };
  });
}

/** Two machines: one with two secrets, and one with two of the keys that take longest. */
export async function costlyMachines(): Promise<Readonly<Record<string, object>>> {
  const keys = ['one', 'other'].map(() => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 4096 });
    return publicKey.export({ format: 'pem', type: 'spki' });
  });
  const common = { kind: 'machine', resources: ['notes'] };
  return {
    ci: { ...common, 'secret-file': await secretFile(`${doorSecret}\n${'previous'.repeat(5)}`) },
    truck: { ...common, 'public-key-file': await secretFile(keys.join('')) },
  };
}

/** What strangers send in the name of a machine: secrets, and assertions that no key has signed. */
export function machineCosts(): Costly[] {
  const grant = 'grant_type=client_credentials';
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const room = 3_000;
  const claims = ['{"sub":"truck"}', `{"sub":"truck","a":"${'a'.repeat(room)}"}`, `{"a":${'['.repeat(room)}`];
  const headers = [
    '{"alg":"RS256"}',
    '{"alg":"HS256"}',
    '{"alg":"none"}',
    `{"alg":"RS256","kid":"${'a'.repeat(room)}"}`,
  ];
  const signatures = ['', 'AAAA', 'A'.repeat(683), 'A'.repeat(4_000)];
  const assertions = [
    ...headers.flatMap((header) =>
      claims.flatMap((claim) => signatures.map((signature) => `${encode(header)}.${encode(claim)}.${signature}`)),
    ),
    ...['.', 'a.', 'e30.', '%2e'].map((part) => filled(part, 12_000)),
  ];
  const type = 'client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const secrets = ['wrong', ...parts.map((part) => filled(part, 12_000))];
  const bodies = [
    ...secrets.map((secret) => `${grant}&client_id=ci&client_secret=${secret}`),
    ...assertions.map((assertion) => `${grant}&${type}&client_assertion=${assertion}`),
    ...assertions.map((assertion) => `${grant}&client_id=truck&${type}&client_assertion=${assertion}`),
  ];
  const credentials = secrets.map((secret) => Buffer.from(`ci:${secret}`).toString('base64'));
  const paths = ['/auth/provider/token', '/auth/provider/revoke'];
  return paths
    .flatMap((path) => [
      ...bodies.map((body) => post(path, `${body.slice(0, limits.requestBodySize - 10)}&token=a`)),
      ...credentials.map((one) => post(path, `${grant}&token=a`, [['Authorization', `Basic ${one}`]])),
    ])
    .map((sending) => {
      const { path, body = '' } = sending;
      return { name: `${path} of a machine ${body.length} ${body.slice(29, 120)} … ${body.slice(-40)}`, sending };
    });
}

/** A request whose headers fill the room that a relay with sessions has, or whose body fills its own. */
function requestOf([path, place, part]: Recipe): Sending {
  const repeated = (length = room) => part.repeat(length / part.length);
  const method = posts.includes(path) ? 'POST' : 'GET';
  const page: [string, string][] = [
    ['Origin', frontEnds.wiki.origin],
    ['X-Login-Relay', '1'],
  ];
  const others = page.filter(([name]) => name !== place);
  if (place === '/' || place.startsWith('?')) {
    return { method, path: path + place + visible(repeated()), headers: page };
  }
  if (place === 'headers') {
    const name = (index: number) => index.toString(36).padStart(4, 'x');
    return { path, headers: Array.from({ length: room / 8 }, (_, index) => [name(index), '']) };
  }
  if (place === form || place === json) {
    const body = visible(repeated(limits.requestBodySize));
    const framing: [string, string][] = [
      ['Origin', frontEnds.app.origin],
      ['Content-Type', place],
      ['Content-Length', `${body.length}`],
    ];
    return { method, path, headers: framing, body };
  }
  const value = `a ${repeated()}a`;
  if (place === 'Host') return { method, path, headers: page, authority: value };
  const isPreflight = place.startsWith('Access-Control');
  const asking: [string, string] = ['Access-Control-Request-Method', 'GET'];
  return {
    method: isPreflight ? 'OPTIONS' : method,
    path,
    headers: [...others, ...(isPreflight ? [asking] : []), [place, value]],
  };
}

// A batch of requests is measured in milliseconds. The first one finds what is worth a longer measurement.
const firstBatch = 8;
const laterBatch = 30;
const suspicious = 3;

/**
 * Measures requests beside starts of a login in the same run. The lowest of four measurements counts: other programs
 * on the machine can only add to one. Linux only.
 *
 * @returns the CPU time of each as a multiple of that of a start of a login; the most expensive ones first
 */
export async function costsOf(
  { port, pid }: { readonly port: number; readonly pid: number },
  requests: readonly Costly[],
): Promise<{ name: string; starts: number }[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });

  async function cost(sending: Costly['sending'], times: number): Promise<number> {
    const before = cpuTimeOf(pid);
    await manyAtOnce(times, 4, async () => {
      if (typeof sending === 'string') return void (await (await RawConnection.open(port)).say(sending).closed);
      const all = { authority: 'relay.example', ...sending, agent, repeatable: true };
      // The relay may close the connection of a refused request before its end.
      await request(port, all).catch(() => {});
    });
    return (cpuTimeOf(pid) - before) / times;
  }
  async function starts(sending: Costly['sending'], times: number): Promise<number> {
    return (await cost(sending, times)) / (await cost({ path: '/auth/provider' }, 3 * times));
  }

  const costs: { name: string; starts: number }[] = [];
  // Until its code is compiled.
  await cost({ path: '/auth/provider' }, 3000);
  for (const { name, sending } of requests) {
    let lowest = await starts(sending, firstBatch);
    for (let time = 0; time < 3 && lowest > suspicious; time += 1) {
      lowest = Math.min(lowest, await starts(sending, laterBatch));
    }
    costs.push({ name, starts: lowest });
  }
  agent.destroy();
  return costs.sort((one, other) => other.starts - one.starts);
}
