import type { Random } from './random.ts';
import { type Header, render, tokenCharacters, visible } from './render.ts';
import { anyBytes, spoilt } from './text.ts';
import { headerNames, paths } from './vocabulary.ts';

/**
 * A request of any form.
 *
 * @param readable a valid HTTP request to change
 */
export function anyRequest(random: Random, readable: string): string {
  return random.pick<() => string>([
    () => readable,
    () => spoilt(random, readable),
    () => spoilt(random, spoilt(random, readable)),
    () => readable.slice(0, random.below(readable.length)),
    () => render(anyMethod(random), '/api/user', [host], anyVersion(random)),
    () => render('GET', `/${anyBytes(random, random.below(30))}`, [], anyVersion(random)),
    () => lookUp(...random.some(0, 8, () => anyHeader(random))),
    () => anyFraming(random),
    () => anyLineEndings(random, readable),
    () => large(random),
    () => anotherProtocol(random),
  ])();
}

const host: Header = ['Host', 'a'];

function lookUp(...headers: Header[]): string {
  return render('GET', '/api/user', headers);
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
    random.pick(['\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\r\n ', '\r\n\t', '\n\r', '\0\r\n']),
  );
}

function large(random: Random): string {
  const size = 1 << (10 + random.below(7));
  const filler = random.pick(['x', '%41', 'a=b; ', '\xff', ' ']).repeat(size / 4);
  return random.pick([
    () => lookUp(['Authorization', `Bearer ${filler}`]),
    () => render('GET', `/auth/provider/callback?code=${visible(filler)}`, []),
    () => render('GET', '/auth/provider', [host, ['Cookie', filler]]),
    () => lookUp([tokenCharacters(filler), 'a']),
    () => render('X'.repeat(size), '/', []),
    () => lookUp(host, ...Array.from({ length: size / 8 }, (_, n): Header => [`X-${n}`, '1'])),
    () => render('POST', '/api/user', [host, ['Content-Length', `${filler.length}`]]) + filler,
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
