/** Bytes of a server that two receivers could understand differently. */
export interface RawAnswer {
  readonly name: string;
  readonly bytes: string;
  /** Whether the server closes the connection after it. */
  readonly closes: boolean;
  /** How the relay passes it on: whole, as 502, or broken off, because the head may have gone before. */
  readonly becomes: 'whole' | 502 | 'broken';
}

/** The body of an answer that nobody has asked for. Nobody may ever get it. */
export const unasked = 'unasked';

const more = `HTTP/1.1 200 OK\r\nContent-Length: ${unasked.length}\r\n\r\n${unasked}`;
const ok = (headers: readonly string[], body = '', line = 'HTTP/1.1 200 OK') =>
  `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
const te = 'Transfer-Encoding: chunked';
const five = 'Content-Length: 5';

type Row = readonly [name: string, becomes: RawAnswer['becomes'], bytes: string, closes?: 'closes'];

const rows: readonly Row[] = [
  ['an ordinary answer', 'whole', ok([five], 'hello')],
  ['chunks', 'whole', ok([te], '5\r\nhello\r\n0\r\n\r\n')],
  ['a body until the end', 'whole', ok([], 'hello'), 'closes'],
  ['a second answer', 'whole', ok([five], `hello${more}`)],
  ['a second answer after chunks', 'whole', ok([te], `5\r\nhello\r\n0\r\n\r\n${more}`)],
  ['two lengths', 502, ok([five, 'Content-Length: 50'], `hello${more}`)],
  ['two lengths, the other way round', 502, ok(['Content-Length: 50', five], `hello${more}`)],
  ['equal lengths', 502, ok([five, five], 'hello')],
  ['a list of lengths', 502, ok(['Content-Length: 5, 5'], 'hello')],
  ['a length with +', 502, ok(['Content-Length: +5'], 'hello')],
  ['a negative length', 502, ok(['Content-Length: -5'], 'hello')],
  ['a hexadecimal length', 502, ok(['Content-Length: 0x5'], 'hello')],
  ['a length that overflows', 502, ok(['Content-Length: 18446744073709551621'], `hello${more}`)],
  ['a length before a space and another', 502, ok(['Content-Length: 5 50'], 'hello')],
  ['length and chunks', 502, ok([five, te], `5\r\nhello\r\n0\r\n\r\n${more}`)],
  ['chunks and length', 502, ok([te, five], `5\r\nhello\r\n0\r\n\r\n${more}`)],
  ['xchunked', 'whole', ok(['Transfer-Encoding: xchunked'], 'hello'), 'closes'],
  ['chunked, identity', 'whole', ok(['Transfer-Encoding: chunked, identity'], 'hello'), 'closes'],
  ['chunked twice', 'whole', ok([te, te], '5\r\nhello\r\n0\r\n\r\n')],
  ['space before the colon', 502, ok(['Transfer-Encoding : chunked', five], `5\r\nhello\r\n0\r\n\r\n${more}`)],
  ['folded', 502, ok(['Transfer-Encoding:', ' chunked', five], `5\r\nhello\r\n0\r\n\r\n${more}`)],
  ['folded elsewhere', 502, ok(['X-One: 1', ' X-Two: 2', five], 'hello')],
  ['bare LF', 502, ok([five], 'hello').replaceAll('\r', '')],
  ['bare LF in a value', 502, ok(['X-One: 1\nContent-Length: 0', five], 'hello')],
  ['bare CR in a value', 502, ok(['X-One: 1\rContent-Length: 0', five], 'hello')],
  ['NUL in a value', 502, ok(['X-One: a\0b', five], 'hello')],
  ['DEL in a value', 502, ok(['X-One: a\x7fb', five], 'hello')],
  ['high bytes in a value', 'whole', ok(['X-One: \x80\xff\xe9', five], 'hello')],
  ['high bytes in the reason', 'whole', ok([five], 'hello', 'HTTP/1.1 200 \xe4\xff')],
  ['NUL in the reason', 'whole', ok([five], 'hello', 'HTTP/1.1 200 a\0b')],
  ['no reason', 'whole', ok([five], 'hello', 'HTTP/1.1 200')],
  ['no colon', 502, ok(['Set-Cookie', five], 'hello')],
  ['a space in a name', 502, ok(['X One: 1', five], 'hello')],
  ['HTTP/1.0', 'whole', ok([five], 'hello', 'HTTP/1.0 200 OK')],
  ['HTTP/1.0 with chunks', 'whole', ok([te], '5\r\nhello\r\n0\r\n\r\n', 'HTTP/1.0 200 OK')],
  ['HTTP/0.9', 502, 'hello', 'closes'],
  ['HTTP/2.0', 'whole', ok([five], 'hello', 'HTTP/2.0 200 OK')],
  ['a status of two digits', 502, ok([five], 'hello', 'HTTP/1.1 20 OK')],
  ['a status of four digits', 502, ok([five], 'hello', 'HTTP/1.1 2000 OK')],
  ['status 999', 502, ok([five], 'hello', 'HTTP/1.1 999 OK')],
  ['status 000', 502, ok([five], 'hello', 'HTTP/1.1 000 OK')],
  ['204 with a body', 'whole', ok([five], `hello${more}`, 'HTTP/1.1 204 No Content')],
  ['204 with chunks', 'whole', ok([te], `5\r\nhello\r\n0\r\n\r\n${more}`, 'HTTP/1.1 204 No Content')],
  ['205 with a body', 'whole', ok([five], 'hello', 'HTTP/1.1 205 Reset Content')],
  ['304 with a body', 'whole', ok([five], `hello${more}`, 'HTTP/1.1 304 Not Modified')],
  ['304 with a length', 'whole', ok([five], '', 'HTTP/1.1 304 Not Modified')],
  ['100 before', 'whole', `HTTP/1.1 100 Continue\r\n\r\n${ok([five], 'hello')}`],
  ['100 with a length', 'whole', `HTTP/1.1 100 Continue\r\n${five}\r\n\r\n${ok([five], 'hello')}`],
  [
    '103 before',
    'whole',
    `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-Forwarded-User: x\r\n\r\n${ok([five], 'hello')}`,
  ],
  ['a hundred of 102', 'whole', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100) + ok([five], 'hello')],
  ['199 before', 'whole', `HTTP/1.1 199 Odd\r\n\r\n${ok([five], 'hello')}`],
  ['nothing but 100', 502, 'HTTP/1.1 100 Continue\r\n\r\n', 'closes'],
  ['101 that nobody asked for', 502, `HTTP/1.1 101 Switching Protocols\r\n\r\n${more}`],
  [
    '101 to WebSocket',
    502,
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n${more}`,
  ],
  [
    '101 to h2c',
    502,
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  ],
  ['Upgrade without 101', 'whole', ok(['Connection: Upgrade', 'Upgrade: h2c', five], 'hello')],
  ['a short body', 'broken', ok(['Content-Length: 50'], 'hello'), 'closes'],
  ['chunks without an end', 'broken', ok([te], '5\r\nhello\r\n'), 'closes'],
  ['a chunk that is too long', 'broken', ok([te], `5\r\nhelloXX\r\n0\r\n\r\n${more}`)],
  ['a chunk without a size', 'broken', ok([te], `5\r\nhello\r\nx\r\n\r\n${more}`)],
  ['a chunk of 2^64', 'broken', ok([te], `5\r\nhello\r\n10000000000000005\r\nhello\r\n0\r\n\r\n${more}`)],
  ['a chunk ended by LF', 'broken', ok([te], `5\r\nhello\r\n5\nhello\r\n0\r\n\r\n${more}`)],
  ['a chunk with an extension', 'whole', ok([te], '5;a=b\r\nhello\r\n0\r\n\r\n')],
  ['a chunk with an extension ended by LF', 'broken', ok([te], `5\r\nhello\r\n5;a\nhello\r\n0\r\n\r\n${more}`)],
  ['trailers', 'whole', ok([te], '5\r\nhello\r\n0\r\nSet-Cookie: evil=1\r\nX-Forwarded-User: evil\r\n\r\n')],
  ['a trailer with a length', 'broken', ok([te], '5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n')],
  ['a folded trailer', 'broken', ok([te], '5\r\nhello\r\n0\r\nX-One: 1\r\n Set-Cookie: evil=1\r\n\r\n')],
  ['Connection that names others', 'whole', ok(['Connection: Content-Length, X-Request-Id', five], 'hello')],
  ['junk before', 502, `junk\r\n${ok([five], 'hello')}`],
  ['an empty line before', 'whole', `\r\n${ok([five], 'hello')}`],
  ['an endless head', 502, ok([`X-One: ${'a'.repeat(70_000)}`, five], 'hello')],
  ['a thousand headers', 'whole', ok([...Array.from({ length: 1000 }, (_, n) => `X-${n}: 1`), five], 'hello')],
  ['nothing', 502, '', 'closes'],
];

/** All of them. */
export const rawAnswers: readonly RawAnswer[] = rows.map(([name, becomes, bytes, closes]) => ({
  name,
  bytes,
  becomes,
  closes: closes !== undefined,
}));
