import { METHODS } from 'node:http';
import type { LoginMaterial } from './login-material.ts';
import type { Random } from './random.ts';
import { anyBytes, hostileText, spoilt } from './text.ts';

type Login = (random: Random) => LoginMaterial;
type Header = readonly [name: string, value: string];

/** What is sent on one connection, a character a byte. */
export interface HostileConnection {
  /** Each a request of its own for whoever reads HTTP strictly, but for the last. */
  readonly requests: readonly string[];
}

/**
 * Requests to send on one connection: some that are valid HTTP and hostile in what they say, then
 * one that may be anything at all.
 */
export function hostileConnection(random: Random, login: Login): HostileConnection {
  const readable = random.some(0, 16, () => readableRequest(random, login));
  return { requests: [...readable, lastRequest(random, login)] };
}

function readableRequest(random: Random, login: Login): string {
  const { cookie, state } = login(random);
  const method = random.oneIn(4) ? random.pick(readableMethods) : 'GET';
  const headers: Header[] = [
    ['Host', random.oneIn(4) ? fieldValue(hostileText(random)) : 'relay.example'],
    ...random.some(0, 6, () => readableHeader(random, cookie)),
  ];
  const body = random.oneIn(100) ? hostileText(random) : undefined;
  if (body !== undefined) headers.push(['Content-Length', String(body.length)]);
  return render(method, readableTarget(random, state), 'HTTP/1.1', headers) + (body ?? '');
}

// CONNECT and Upgrade turn a connection into something else: they come last.
const readableMethods = METHODS.filter((method) => method !== 'CONNECT') as [string, ...string[]];

const paths = [
  '/auth/provider',
  '/auth/provider/callback',
  '/auth/provider/callback',
  '/api/user',
  '/api/user',
  '/healthz',
  '/readyz',
  '/',
  '*',
  '/auth/provider/',
  '//auth/provider',
  '/AUTH/PROVIDER',
  '/auth/%70rovider',
  '/auth/provider/callback/..',
  '/metrics',
  '/__proto__',
  '/constructor',
  'http://evil.example/auth/provider',
  'https://evil.example:99999/auth/provider/callback',
  'http://user:password@evil.example/api/user',
  'http://https:evil.example/auth/provider',
  'http://[/api/user',
  'http://%zz@/api/user',
] as const;

const parameters = [
  'code',
  'code',
  'state',
  'state',
  'error',
  'error_description',
  'iss',
  'access_token',
  'redirect_uri',
  'next',
  '__proto__',
  'constructor',
  '',
] as const;

function readableTarget(random: Random, state: string): string {
  const path = random.oneIn(10) ? `/${visible(hostileText(random))}` : random.pick(paths);
  if (random.oneIn(4)) return path;
  const values = [
    () => 'code-1',
    () => state,
    () => visible(spoilt(random, state)),
    () => visible(hostileText(random)),
    () => encodeURIComponent(hostileText(random)),
    () => 'access_denied',
  ] as const;
  const pairs = random.some(
    0,
    6,
    () => `${random.pick(parameters)}${random.oneIn(20) ? '' : '='}${random.pick(values)()}`,
  );
  // What a callback looks like that is let through to the provider.
  if (random.oneIn(4)) pairs.push('code=good', `state=${state}`);
  return `${path}?${pairs.join('&')}`;
}

const headerNames = [
  'Authorization',
  'Authorization',
  'Cookie',
  'Cookie',
  'Origin',
  'Referer',
  'Accept',
  'User-Agent',
  'Sec-Fetch-Dest',
  'Sec-Fetch-Site',
  'Sec-Fetch-Mode',
  'Sec-Purpose',
  'Purpose',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-For',
  'Forwarded',
  'X-Request-Id',
  'X-HTTP-Method-Override',
  'Access-Control-Request-Method',
  'Access-Control-Request-Headers',
  'Accept-Encoding',
  'If-None-Match',
  'Range',
  'Expect',
  'Connection',
  'Content-Type',
  'Content-Encoding',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
] as const;

function readableHeader(random: Random, cookie: string): Header {
  const name = random.oneIn(10) ? tokenCharacters(hostileText(random)) : random.pick(headerNames);
  if (name === 'Cookie' && !random.oneIn(3)) {
    return [name, random.oneIn(2) ? cookie : fieldValue(spoilt(random, cookie))];
  }
  if (name === 'Authorization' && random.oneIn(2))
    return [name, `Bearer token-${random.below(99)}`];
  if (name === 'Origin' && random.oneIn(2)) return [name, 'https://app.example'];
  // "close" would end the connection before what follows is read.
  if (name === 'Connection') return [name, 'keep-alive'];
  return [name, fieldValue(hostileText(random))];
}

function lastRequest(random: Random, login: Login): string {
  const readable = readableRequest(random, login);
  return random.pick<() => string>([
    () => readable,
    () => spoilt(random, readable),
    () => spoilt(random, spoilt(random, readable)),
    () => readable.slice(0, random.below(readable.length)),
    () => render(anyMethod(random), '/api/user', anyVersion(random), [['Host', 'a']]),
    () => render('GET', `/${anyBytes(random, random.below(30))}`, anyVersion(random), []),
    () =>
      render(
        'GET',
        '/api/user',
        'HTTP/1.1',
        random.some(0, 8, () => anyHeader(random)),
      ),
    () => anyFraming(random),
    () => anyLineEndings(random, readable),
    () => large(random),
    () => anotherProtocol(random),
  ])();
}

function anyMethod(random: Random): string {
  const methods = ['get', 'GETT', '', 'CONNECT', 'PRI', 'SOURCE', '\0GET', 'GET\t'] as const;
  return random.oneIn(3) ? anyBytes(random, 1 + random.below(20)) : random.pick(methods);
}

function anyVersion(random: Random): string {
  return random.pick([
    'HTTP/1.1',
    'HTTP/1.0',
    'HTTP/0.9',
    'HTTP/2.0',
    'HTTP/9.9',
    'HTTP/1.',
    'http/1.1',
    'HTTP/1.1 ',
    'ICE/1.0',
    'RTSP/1.0',
    '',
    anyBytes(random, 4),
  ]);
}

function anyHeader(random: Random): Header {
  const name = random.oneIn(3) ? anyBytes(random, random.below(20)) : random.pick(headerNames);
  return [name, anyBytes(random, random.below(60))];
}

const framings = [
  'Content-Length: 5',
  'Content-Length: 6',
  'Content-Length: +5',
  'Content-Length: -5',
  'Content-Length: 5, 5',
  'Content-Length: 0x5',
  'Content-Length: 99999999999999999999',
  'Content-Length : 5',
  'Content-Length:',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding : chunked',
  'Transfer_Encoding: chunked',
  'TE: trailers',
  'Trailer: Authorization',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
  'Expect: 100-continue',
  'Expect: 200-ok',
] as const;

const bodies = [
  'hello',
  '5\r\nhello\r\n0\r\n\r\n',
  '0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\nAuthorization: Bearer trailer\r\n\r\n',
  'ffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  '-5\r\nhello\r\n0\r\n\r\n',
  '5\nhello\n0\n\n',
  '0\r\n\r\nGET /api/user HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer smuggled\r\n\r\n',
  '',
] as const;

function anyFraming(random: Random): string {
  const lines = random.some(1, 4, () => random.pick(framings));
  const head = `${random.pick(['GET', 'POST', 'HEAD', 'OPTIONS'])} ${random.pick(paths)} HTTP/1.1`;
  return [head, 'Host: a', ...lines, '', ''].join('\r\n') + random.pick(bodies);
}

function anyLineEndings(random: Random, request: string): string {
  return request.replaceAll('\r\n', () =>
    random.pick([
      '\r\n',
      '\r\n',
      '\r\n',
      '\n',
      '\r',
      '\r\r\n',
      '\r\n ',
      '\r\n\t',
      '\n\r',
      '\0\r\n',
    ]),
  );
}

function large(random: Random): string {
  const size = 1 << (10 + random.below(7));
  const filler = random.pick(['x', '%41', 'a=b; ', '\xff', ' ']).repeat(size / 4);
  return random.pick([
    () => render('GET', '/api/user', 'HTTP/1.1', [['Authorization', `Bearer ${filler}`]]),
    () => render('GET', `/auth/provider/callback?code=${visible(filler)}`, 'HTTP/1.1', []),
    () =>
      render('GET', '/auth/provider', 'HTTP/1.1', [
        ['Host', 'a'],
        ['Cookie', filler],
      ]),
    () => render('GET', '/api/user', 'HTTP/1.1', [[tokenCharacters(filler), 'a']]),
    () => render('X'.repeat(size), '/', 'HTTP/1.1', []),
    () => {
      const many = Array.from({ length: size / 8 }, (_, index): Header => [`X-${index}`, '1']);
      return render('GET', '/api/user', 'HTTP/1.1', [['Host', 'a'], ...many]);
    },
    () =>
      render('POST', '/api/user', 'HTTP/1.1', [
        ['Host', 'a'],
        ['Content-Length', String(filler.length)],
      ]) + filler,
  ])();
}

function anotherProtocol(random: Random): string {
  return random.pick([
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
    '\r\n\r\nGET /api/user HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /api/user\r\n',
    '\x05\x01\0',
    'SSH-2.0-x\r\n',
    'EHLO a\r\n',
    anyBytes(random, 1 + random.below(200)),
  ]);
}

function render(method: string, target: string, version: string, headers: readonly Header[]) {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} ${version}\r\n${lines.join('')}\r\n`;
}

function visible(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '');
}

function fieldValue(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}

function tokenCharacters(text: string): string {
  return text.replaceAll(/[^\w!#$%&'*+.^`|~-]/g, '') || 'X';
}
