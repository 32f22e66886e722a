/** Where a request goes, and what opens the door there. */
export interface Target {
  readonly host: string;
  /** The path of the resource, without a slash at its end. */
  readonly path: string;
  /** Lines of headers. */
  readonly credentials: readonly string[];
}

/** Bytes of a client that two receivers could understand differently. */
export interface RawRequest {
  readonly name: string;
  /** Of the first request. */
  readonly method: string;
  bytes(target: Target): string;
  /**
   * Whether the relay refuses it without a word to the server; otherwise, the server gets exactly one request. Undefined
   * if that depends on the door.
   */
  readonly isRefused: boolean | undefined;
}

/** The path of requests that must never arrive behind the relay, because they come without credentials. */
export const smuggled = '/smuggled';

/** Whom a client claims to be. */
export const claimed = 'mallory';

interface Parts {
  readonly method?: string;
  readonly line?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Between the lines of the head. */
  readonly newline?: string;
}

function written(
  { host, path, credentials }: Target,
  { method = 'POST', line, headers = [], body = '', newline = '\r\n' }: Parts,
) {
  const first = line ?? `${method} ${path}/case HTTP/1.1`;
  return `${[first, `Host: ${host}`, ...credentials, ...headers].join(newline)}${newline}${newline}${body}`;
}

/** A whole request that nobody has checked. */
const whole = ({ host, path }: Target) => `GET ${path}${smuggled} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
/** The beginning of a request, which the next request on the same connection would complete with its credentials. */
const beginning = ({ host, path }: Target) => `GET ${path}${smuggled} HTTP/1.1\r\nHost: ${host}\r\nX-Swallow: `;
const chunk = (content: string) => `${content.length.toString(16)}\r\n${content}\r\n`;
const chunked = (content: string) => `${chunk(content)}0\r\n\r\n`;
const te = 'Transfer-Encoding: chunked';

type Make = (target: Target) => Parts;
const row = (isRefused: boolean | undefined, name: string, make: Make): RawRequest => ({
  name,
  isRefused,
  method: 'POST',
  bytes: (target) => written(target, make(target)),
});
const refused = (name: string, make: Make) => row(true, name, make);
const passed = (name: string, make: Make) => row(false, name, make);
const withMethod = (method: string, of: RawRequest): RawRequest => ({ ...of, method });

/** One ends at the length, the other at the chunk, with a request between. */
function disagreeing(name: string, isRefused: boolean, ...codings: readonly string[]): readonly RawRequest[] {
  return [
    row(isRefused, `CL.TE ${name}`, (target) => {
      const body = `0\r\n\r\n${beginning(target)}`;
      return { headers: [`Content-Length: ${body.length}`, ...codings], body };
    }),
    row(isRefused, `TE.CL ${name}`, (target) => {
      const body = chunked(whole(target));
      return { headers: [...codings, `Content-Length: ${body.length}`], body };
    }),
  ];
}

/** A receiver that honours only the short length takes the rest for the next request. */
const short = (name: string, isRefused: boolean, ...codings: readonly string[]) =>
  row(isRefused, `short CL ${name}`, (target) => {
    const body = chunked(whole(target));
    return { headers: ['Content-Length: 4', ...codings], body };
  });

const codings: readonly (readonly [name: string, isRefused: boolean, ...lines: string[]])[] = [
  ['chunked', true, te],
  ['Chunked', true, 'Transfer-Encoding: Chunked'],
  ['xchunked', true, 'Transfer-Encoding: xchunked'],
  ['chunked, identity', true, 'Transfer-Encoding: chunked, identity'],
  ['identity, chunked', true, 'Transfer-Encoding: identity, chunked'],
  ['chunked, chunked', true, 'Transfer-Encoding: chunked, chunked'],
  ['gzip, chunked', true, 'Transfer-Encoding: gzip, chunked'],
  ['identity', true, 'Transfer-Encoding: identity'],
  ['"chunked"', true, 'Transfer-Encoding: "chunked"'],
  ['chunked;q=1', true, 'Transfer-Encoding: chunked;q=1'],
  ['VT chunked', true, 'Transfer-Encoding: \x0bchunked'],
  ['chunked FF', true, 'Transfer-Encoding: chunked\x0c'],
  ['NUL chunked', true, 'Transfer-Encoding: \0chunked'],
  ['NBSP chunked', true, 'Transfer-Encoding: \xa0chunked'],
  ['TAB chunked', true, 'Transfer-Encoding:\tchunked'],
  ['chunked TAB', true, 'Transfer-Encoding: chunked\t'],
  [', chunked', true, 'Transfer-Encoding: , chunked'],
  ['chunked,', true, 'Transfer-Encoding: chunked,'],
  ['nothing', true, 'Transfer-Encoding:'],
  ['space before the colon', true, 'Transfer-Encoding : chunked'],
  ['TAB before the colon', true, 'Transfer-Encoding\t: chunked'],
  ['NUL in the name', true, 'Transfer-Encoding\0: chunked'],
  ['underscore', false, 'Transfer_Encoding: chunked'],
  ['folded', true, 'Transfer-Encoding:\r\n chunked'],
  ['folded with TAB', true, 'Transfer-Encoding:\r\n\tchunked'],
  ['leading space', true, ' Transfer-Encoding: chunked'],
  ['after bare CR', true, 'X-One: 1\rTransfer-Encoding: chunked'],
  ['after bare LF', true, 'X-One: 1\nTransfer-Encoding: chunked'],
  ['chunked, then x', true, te, 'Transfer-Encoding: x'],
  ['x, then chunked', true, 'Transfer-Encoding: x', te],
  ['twice', true, te, 'transfer-encoding: chunked'],
  ['named by Connection', true, 'Connection: Transfer-Encoding', te],
];

/** Lengths of a body that is a whole request. */
const lengths: readonly (readonly [name: string, isRefused: boolean, (length: number) => readonly string[]])[] = [
  ['twice, different', true, (n) => ['Content-Length: 0', `Content-Length: ${n}`]],
  ['twice, the other way round', true, (n) => [`Content-Length: ${n}`, 'content-length: 0']],
  ['twice, equal', true, (n) => [`Content-Length: ${n}`, `Content-Length: ${n}`]],
  ['list, equal', true, (n) => [`Content-Length: ${n}, ${n}`]],
  ['list, different', true, (n) => [`Content-Length: 0, ${n}`]],
  ['with +', true, (n) => [`Content-Length: +${n}`]],
  ['negative', true, () => ['Content-Length: -1']],
  ['hexadecimal', true, (n) => [`Content-Length: 0x${n.toString(16)}`]],
  ['with a space inside', true, () => ['Content-Length: 1 0']],
  ['with ;', true, (n) => [`Content-Length: ${n};x`]],
  ['with an exponent', true, () => ['Content-Length: 1e1']],
  ['with NUL', true, (n) => [`Content-Length: ${n}\0`]],
  ['with VT', true, (n) => [`Content-Length: \x0b${n}`]],
  ['of 2^64 and more', true, (n) => [`Content-Length: ${2n ** 64n + BigInt(n)}`]],
  ['of 2^32 and more', true, (n) => [`Content-Length: ${2 ** 32 + n}`]],
  ['empty', true, () => ['Content-Length:']],
  ['space before the colon', true, (n) => [`Content-Length : ${n}`]],
  ['folded', true, (n) => ['Content-Length: 0', ` ${n}`]],
  ['named by Connection', false, (n) => ['Connection: Content-Length', `Content-Length: ${n}`]],
  ['with leading zeros', false, (n) => [`Content-Length: 00${n}`]],
  ['with spaces around', false, (n) => [`Content-Length: \t ${n} \t`]],
  ['with underscore', false, (n) => ['Content_Length: 0', `Content-Length: ${n}`]],
];

const chunks: readonly (readonly [name: string, isRefused: boolean, (target: Target) => string])[] = [
  ['extension', false, () => '5;a=b\r\nhello\r\n0\r\n\r\n'],
  ['quoted extension with CRLF', true, () => '5;a="\r\nhello\r\n0\r\n\r\n"\r\nhello\r\n0\r\n\r\n'],
  ['extension ended by LF', true, (target) => `2;\nxx\r\n${chunk(`0\r\n\r\n${whole(target)}`)}0\r\n\r\n`],
  ['extension with bare CR', true, () => '5;a\rb\r\nhello\r\n0\r\n\r\n'],
  ['extension with NUL', true, () => '5;a\0b\r\nhello\r\n0\r\n\r\n'],
  ['size ended by LF', true, () => '5\nhello\r\n0\r\n\r\n'],
  ['data ended by LF', true, () => '5\r\nhello\n0\r\n\r\n'],
  ['data without an end', true, (target) => `5\r\nhello0\r\n\r\n${whole(target)}`],
  ['data ended by two others', true, (target) => `5\r\nhelloXX0\r\n\r\n${whole(target)}`],
  ['more data than its size', true, (target) => `1\r\nhello\r\n0\r\n\r\n${whole(target)}`],
  ['last one ended by LF', true, (target) => `5\r\nhello\r\n0\n\n${whole(target)}`],
  ['0x', true, (target) => `0x5\r\nhello\r\n0\r\n\r\n${whole(target)}`],
  ['+', true, () => '+5\r\nhello\r\n0\r\n\r\n'],
  ['-', true, () => '-5\r\nhello\r\n0\r\n\r\n'],
  ['_', true, () => '0_5\r\nhello\r\n0\r\n\r\n'],
  ['leading zeros', false, () => '0005\r\nhello\r\n000\r\n\r\n'],
  ['leading space', true, () => ' 5\r\nhello\r\n0\r\n\r\n'],
  ['trailing space', true, () => '5 \r\nhello\r\n0\r\n\r\n'],
  ['2^64', true, (target) => `10000000000000005\r\nhello\r\n0\r\n\r\n${whole(target)}`],
  ['empty size', true, (target) => `\r\n\r\n${whole(target)}`],
  ['trailer that forges identity', false, () => `5\r\nhello\r\n0\r\nX-Forwarded-User: ${claimed}\r\n\r\n`],
  ['trailer with a length', true, (target) => `5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n${whole(target)}`],
  ['trailer with a coding', true, () => '5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['folded trailer', true, () => `5\r\nhello\r\n0\r\nX-One: 1\r\n X-Forwarded-User: ${claimed}\r\n\r\n`],
  ['trailer ended by LF', true, (target) => `5\r\nhello\r\n0\r\nX-One: 1\n\n${whole(target)}`],
  ['followed by a request', false, (target) => `5\r\nhello\r\n0\r\n\r\n${whole(target)}`],
];

/** Lines of the head that are no headers, or not for everybody. */
const lines: readonly (readonly [name: string, isRefused: boolean, ...lines: string[]])[] = [
  ['NUL in a value', true, 'X-One: a\0b'],
  ['VT in a value', true, 'X-One: a\x0bb'],
  ['DEL in a value', true, 'X-One: a\x7fb'],
  ['ESC in a value', true, 'X-One: a\x1bb'],
  ['bare CR in a value', true, `X-One: a\rX-Forwarded-User: ${claimed}`],
  ['bare LF in a value', true, `X-One: a\nX-Forwarded-User: ${claimed}`],
  ['high bytes in a value', false, 'X-One: \x80\xff\xe9'],
  ['high bytes in a name', true, 'X-Forwarded-User\xe9: mallory'],
  ['NUL in a name', true, `X-Forwarded-User\0: ${claimed}`],
  ['no colon', true, 'X-Forwarded-User'],
  ['no name', true, `: ${claimed}`],
  ['space in a name', true, `X-Forwarded User: ${claimed}`],
  ['space before the colon', true, `X-Forwarded-User : ${claimed}`],
  ['folded', true, `X-One: 1\r\n X-Forwarded-User: ${claimed}`],
  ['folded by TAB', true, `X-One: 1\r\n\tX-Forwarded-User: ${claimed}`],
  ['folded, empty', true, 'X-One: 1\r\n \r\nX-Two: 2'],
  ['second Host', true, 'Host: other.example.com'],
  ['second Authorization', true, 'Authorization: Bearer other'],
  ['identity', false, `X-Forwarded-User: ${claimed}`, `x_forwarded_user: ${claimed}`, `X.Forwarded.User: ${claimed}`],
  ['identity named by Connection', false, 'Connection: X-Forwarded-User', `X-Forwarded-User: ${claimed}`],
  [
    'all that the relay sets, named by Connection',
    false,
    'Connection: close, X-Forwarded-User, x-forwarded-preferred-username, X-Forwarded-Email, X-Forwarded-Groups, X-Request-Id, X-Forwarded-Host, X-Forwarded-Proto',
  ],
  ['Host named by Connection', false, 'Connection: Host'],
  ['Proxy-Connection', false, 'Proxy-Connection: keep-alive, X-Forwarded-User'],
  ['TE and Trailer', false, 'TE: trailers, chunked', 'Trailer: X-Forwarded-User', 'Connection: TE'],
  ['h2c', false, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
  ['TLS/1.0', false, 'Connection: Upgrade', 'Upgrade: TLS/1.0'],
  ['h2c and websocket', true, 'Connection: Upgrade', 'Upgrade: h2c, websocket', 'HTTP2-Settings: AAMAAABk'],
];

const requestLines: readonly (readonly [name: string, isRefused: boolean | undefined, (target: Target) => string])[] = [
  ['absolute form', true, ({ host, path }) => `GET http://${host}${path}/case HTTP/1.1`],
  ['absolute form, other host', true, ({ path }) => `GET http://other.example.com${path}/case HTTP/1.1`],
  ['absolute form, no scheme', undefined, ({ host, path }) => `GET //${host}${path}/case HTTP/1.1`],
  ['authority form', true, ({ host }) => `CONNECT ${host}:443 HTTP/1.1`],
  ['asterisk', true, () => 'OPTIONS * HTTP/1.1'],
  ['two spaces', false, ({ path }) => `GET  ${path}/case HTTP/1.1`],
  ['TAB', true, ({ path }) => `GET\t${path}/case\tHTTP/1.1`],
  ['space in the target', true, ({ path }) => `GET ${path}/case ${path}/x HTTP/1.1`],
  ['space at the end', true, ({ path }) => `GET ${path}/case HTTP/1.1 `],
  ['fragment', true, ({ path }) => `GET ${path}/case#x HTTP/1.1`],
  ['NUL in the target', true, ({ path }) => `GET ${path}/case\0 HTTP/1.1`],
  ['high bytes in the target', true, ({ path }) => `GET ${path}/c\xe4se HTTP/1.1`],
  ['CR in the target', true, ({ path }) => `GET ${path}/case\rX HTTP/1.1`],
  ['HTTP/0.9', true, ({ path }) => `GET ${path}/case`],
  ['HTTP/1.2', true, ({ path }) => `GET ${path}/case HTTP/1.2`],
  ['HTTP/2.0', true, ({ path }) => `GET ${path}/case HTTP/2.0`],
  ['HTTP/11', true, ({ path }) => `GET ${path}/case HTTP/11`],
  ['http/1.1', true, ({ path }) => `GET ${path}/case http/1.1`],
  ['lower case', true, ({ path }) => `get ${path}/case HTTP/1.1`],
  ['unknown method', true, ({ path }) => `SMUGGLE ${path}/case HTTP/1.1`],
  ['TRACE', true, ({ path }) => `TRACE ${path}/case HTTP/1.1`],
  ['preface of HTTP/2', true, () => 'PRI * HTTP/2.0'],
];

/** Requests with methods that have no body, and with a body that is a request. */
const bodies: readonly RawRequest[] = ['GET', 'HEAD', 'DELETE', 'OPTIONS'].flatMap((method) => [
  withMethod(
    method,
    passed(`${method} with a body`, (target) => {
      const body = whole(target);
      return { method, headers: [`Content-Length: ${body.length}`], body };
    }),
  ),
  withMethod(
    method,
    passed(`${method} with chunks`, (target) => ({ method, headers: [te], body: chunked(whole(target)) })),
  ),
]);

const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const webSocket = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];

/** The server answers all of these by 200, so that what follows is still HTTP for those who think so. */
const upgrades: readonly RawRequest[] = [
  passed('WebSocket, then a request', (target) => ({
    method: 'GET',
    headers: [...webSocket, key],
    body: whole(target),
  })),
  refused('WebSocket without a key', (target) => ({ method: 'GET', headers: webSocket, body: whole(target) })),
  refused('WebSocket of version 8', (target) => ({
    method: 'GET',
    headers: ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 8', key],
    body: whole(target),
  })),
  refused('WebSocket by POST', (target) => ({
    headers: [...webSocket, key, 'Content-Length: 4'],
    body: `abcd${whole(target)}`,
  })),
  refused('WebSocket with chunks', (target) => ({
    method: 'GET',
    headers: [...webSocket, key, te],
    body: chunked(whole(target)),
  })),
  refused('WebSocket without Connection', (target) => ({
    method: 'GET',
    headers: ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', key],
    body: whole(target),
  })),
  passed('h2c, then its preface', () => ({
    method: 'GET',
    headers: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    body: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  })),
];

const expectations: readonly RawRequest[] = [
  passed('Expect: 100-continue', () => ({ headers: ['Expect: 100-continue', 'Content-Length: 5'], body: 'hello' })),
  passed('Expect: 100-continue, then a request', (target) => ({
    headers: ['Expect: 100-continue', 'Content-Length: 5'],
    body: `hello${whole(target)}`,
  })),
  passed('Expect: 100-continue by GET', (target) => ({
    method: 'GET',
    headers: ['Expect: 100-continue', `Content-Length: ${whole(target).length}`],
    body: whole(target),
  })),
  passed('Expect twice', () => ({ headers: ['Expect: 100-continue, 100-continue', te], body: chunked('hello') })),
  passed('Expect: something else', () => ({ headers: ['Expect: y=1', 'Content-Length: 5'], body: 'hello' })),
];

const others: readonly RawRequest[] = [
  passed('an ordinary request', () => ({ headers: ['Content-Length: 5'], body: 'hello' })),
  passed('an ordinary request in chunks', () => ({ headers: [te], body: chunked('hello') })),
  passed('a request behind another', (target) => ({ method: 'GET', body: whole(target) })),
  refused('all lines ended by LF', () => ({ method: 'GET', newline: '\n' })),
  refused('all lines ended by CR', () => ({ method: 'GET', newline: '\r' })),
  refused('chunks with HTTP/1.0', ({ path, ...target }) => ({
    line: `POST ${path}/case HTTP/1.0`,
    headers: ['Connection: keep-alive', te],
    body: `0\r\n\r\n${beginning({ path, ...target })}`,
  })),
  passed('a beginning after the length', (target) => ({
    headers: ['Content-Length: 5'],
    body: `hello${beginning(target)}`,
  })),
];

/** All of them. */
export const rawRequests: readonly RawRequest[] = [
  ...others,
  ...codings.flatMap(([name, isRefused, ...of]) => [
    ...disagreeing(name, isRefused, ...of),
    short(name, isRefused, ...of),
  ]),
  ...lengths.map(([name, isRefused, of]) =>
    row(isRefused, `length ${name}`, (target) => {
      const body = whole(target);
      return { headers: of(body.length), body };
    }),
  ),
  ...chunks.map(([name, isRefused, of]) =>
    row(isRefused, `chunk: ${name}`, (target) => ({ headers: [te], body: of(target) })),
  ),
  ...lines.map(([name, isRefused, ...of]) =>
    withMethod(
      'GET',
      row(isRefused, `line: ${name}`, () => ({ method: 'GET', headers: of })),
    ),
  ),
  ...requestLines.map(([name, isRefused, of]) =>
    withMethod(
      'GET',
      row(isRefused, `request line: ${name}`, (target) => ({ line: of(target) })),
    ),
  ),
  ...bodies,
  ...upgrades,
  ...expectations,
];
