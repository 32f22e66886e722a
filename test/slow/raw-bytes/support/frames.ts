import type { Target } from './requests.ts';
import { claimed, smuggled } from './requests.ts';

type Field = readonly [name: string, value: string];

/** Requests of an HTTP/2 client from which a proxy could write two HTTP/1.1 requests, or a false request. */
export interface RawFrames {
  readonly name: string;
  /** Fields that come before the ordinary fields, and replace ordinary fields of the same name. */
  readonly fields: (target: Target) => readonly Field[];
  readonly body?: (target: Target) => string;
  readonly trailers?: readonly Field[];
}

const whole = ({ host, path }: Target) => `GET ${path}${smuggled} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const only = (...fields: Field[]) => fields;
const hello = () => 'hello';

/** All of them. The first are ordinary. */
export const rawFrames: readonly RawFrames[] = [
  { name: 'an ordinary request', fields: () => only() },
  { name: 'an ordinary body', fields: () => only([':method', 'POST']), body: hello },
  { name: 'a length that is too short', fields: () => only([':method', 'POST'], ['content-length', '0']), body: whole },
  { name: 'a length that is too long', fields: () => only([':method', 'POST'], ['content-length', '99']), body: hello },
  {
    name: 'two lengths',
    fields: () => only([':method', 'POST'], ['content-length', '5'], ['content-length', '0']),
    body: hello,
  },
  { name: 'a length that is none', fields: () => only([':method', 'POST'], ['content-length', '+5']), body: hello },
  {
    name: 'transfer-encoding',
    fields: () => only([':method', 'POST'], ['transfer-encoding', 'chunked']),
    body: (target) => `0\r\n\r\n${whole(target)}`,
  },
  {
    name: 'transfer-encoding after a line end in a value',
    fields: () => only([':method', 'POST'], ['x-one', 'a\r\ntransfer-encoding: chunked']),
    body: (target) => `0\r\n\r\n${whole(target)}`,
  },
  {
    name: 'transfer-encoding after a line end in a name',
    fields: () => only([':method', 'POST'], ['x-one: a\r\ntransfer-encoding', 'chunked']),
    body: (target) => `0\r\n\r\n${whole(target)}`,
  },
  { name: 'a request after line ends in a value', fields: (target) => only(['x-one', `a\r\n\r\n${whole(target)}`]) },
  { name: 'a request after bare LF in a value', fields: (target) => only(['x-one', `a\n\n${whole(target)}`]) },
  { name: 'identity after LF in a value', fields: () => only(['x-one', `a\nx-forwarded-user: ${claimed}`]) },
  { name: 'identity after CR in a value', fields: () => only(['x-one', `a\rx-forwarded-user: ${claimed}`]) },
  { name: 'NUL in a value', fields: () => only(['x-one', 'a\0b']) },
  { name: 'colon in a name', fields: () => only(['x-one:', 'a']) },
  { name: 'space in a name', fields: () => only(['x one', 'a']) },
  { name: 'upper case in a name', fields: () => only(['X-Forwarded-User', claimed]) },
  { name: 'an empty name', fields: () => only(['', claimed]) },
  { name: 'spaces around a value', fields: () => only(['x-one', ' a\t']) },
  { name: 'a line end in the path', fields: ({ path }) => only([':path', `${path}/case HTTP/1.1\r\nx-one: a`]) },
  { name: 'a space in the path', fields: ({ path }) => only([':path', `${path}/case HTTP/1.1 x`]) },
  {
    name: 'a request in the path',
    fields: (target) => only([':path', `/ HTTP/1.1\r\nHost: a\r\n\r\n${whole(target)}`]),
  },
  { name: 'a path of another form', fields: ({ host, path }) => only([':path', `http://${host}${path}/case`]) },
  { name: 'an empty path', fields: () => only([':path', '']) },
  { name: 'a fragment in the path', fields: ({ path }) => only([':path', `${path}/case#x`]) },
  { name: 'a request in the method', fields: (target) => only([':method', `${whole(target)}GET`]) },
  { name: 'a space in the method', fields: ({ path }) => only([':method', `GET ${path}/x HTTP/1.1`]) },
  { name: 'CONNECT', fields: () => only([':method', 'CONNECT']) },
  {
    name: 'a request in the scheme',
    fields: ({ host, path }) => only([':scheme', `http://${host}${path}${smuggled}?`]),
  },
  { name: 'a line end in the authority', fields: ({ host }) => only([':authority', `${host}\r\nx-one: a`]) },
  { name: 'another authority', fields: ({ host }) => only([':authority', 'other.example.com'], ['host', host]) },
  { name: 'another host', fields: () => only(['host', 'other.example.com']) },
  { name: 'a person in the authority', fields: ({ host }) => only([':authority', `${claimed}@${host}`]) },
  { name: 'two paths', fields: ({ path }) => only([':path', `${path}/case`], [':path', `${path}${smuggled}`]) },
  { name: 'two methods', fields: () => only([':method', 'GET'], [':method', 'POST']) },
  { name: 'an unknown pseudo-header', fields: () => only([':user', claimed]) },
  { name: 'connection', fields: () => only(['connection', 'x-forwarded-user, authorization']) },
  {
    name: 'upgrade',
    fields: () => only(['connection', 'upgrade'], ['upgrade', 'h2c'], ['http2-settings', 'AAMAAABk']),
  },
  { name: 'te', fields: () => only(['te', 'chunked']) },
  { name: 'identity', fields: () => only(['x-forwarded-user', claimed], ['x_forwarded_user', claimed]) },
  {
    name: 'identity in trailers',
    fields: () => only([':method', 'POST'], ['trailer', 'x-forwarded-user']),
    body: hello,
    trailers: [['x-forwarded-user', claimed]],
  },
  {
    name: 'a length in trailers',
    fields: () => only([':method', 'POST']),
    body: hello,
    trailers: [['content-length', '50']],
  },
  {
    name: 'a line end in trailers',
    fields: () => only([':method', 'POST']),
    body: hello,
    trailers: [['x-one', `a\r\n\r\nGET ${smuggled} HTTP/1.1`]],
  },
  {
    name: 'a path in trailers',
    fields: () => only([':method', 'POST']),
    body: hello,
    trailers: [[':path', smuggled]],
  },
];

const types = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7 } as const;
const endOfStream = 1;
const endOfHeaders = 4;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A text in HPACK, without Huffman's code. @see RFC 7541 §5.2 */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const { length } = bytes;
  if (length < 127) return Buffer.concat([Buffer.of(length), bytes]);
  const rest = [];
  for (let left = length - 127; ; left >>= 7) {
    rest.push(left < 128 ? left : (left & 127) | 128);
    if (left < 128) break;
  }
  return Buffer.concat([Buffer.of(127, ...rest), bytes]);
}

const block = (fields: readonly Field[]) =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]));

/** A connection with one request. @see RFC 9113 */
export function bytesOf({ fields, body, trailers }: RawFrames, target: Target): Buffer {
  const given = fields(target);
  const ordinary: Field[] = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':authority', target.host],
    [':path', `${target.path}/case`],
    ...target.credentials.map((line): Field => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
    }),
  ];
  const pseudo = (from: readonly Field[], isPseudo: boolean) => from.filter(([name]) => /^:./.test(name) === isPseudo);
  const kept = ordinary.filter(([name]) => given.every(([other]) => other !== name));
  const all = [...pseudo(kept, true), ...pseudo(given, true), ...pseudo(kept, false), ...pseudo(given, false)];
  const headers = (of: readonly Field[], isLast: boolean) =>
    frame(types.headers, endOfHeaders | (isLast ? endOfStream : 0), 1, block(of));
  const parts = [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(types.settings, 0, 0, Buffer.of())];
  parts.push(headers(all, body === undefined));
  if (body !== undefined) {
    parts.push(frame(types.data, trailers === undefined ? endOfStream : 0, 1, Buffer.from(body(target), 'latin1')));
  }
  if (trailers !== undefined) parts.push(headers(trailers, true));
  return Buffer.concat(parts);
}

/** How a stream has ended, as far as the bytes of the server say. */
export function endingOf(bytes: Buffer): 'answered' | 'reset' | 'refused' | undefined {
  let ending: 'answered' | 'reset' | 'refused' | undefined;
  for (let at = 0; at + 9 <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    const type = bytes.readUInt8(at + 3);
    const isEnd = (bytes.readUInt8(at + 4) & endOfStream) !== 0;
    const stream = bytes.readUInt32BE(at + 5);
    if (stream === 1 && type === types.reset) ending ??= 'reset';
    else if (stream === 1 && isEnd && (type === types.data || type === types.headers)) ending ??= 'answered';
    else if (type === types.goAway && bytes.readUInt32BE(at + 13) !== 0) ending ??= 'refused';
    at += 9 + length;
  }
  return ending;
}
