import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Random } from './random.ts';
import { anyBytes, hostileText, spoilt } from './text.ts';

/** A provider's answer to one request. */
export interface HostileAnswer {
  /** Bytes to send, and milliseconds to wait, in turn. */
  readonly steps: readonly (Buffer | number)[];
  /** The end of the connection. */
  readonly ending: 'keep' | 'end' | 'reset';
}

/**
 * An answer of a careless, broken or malicious provider.
 *
 * @param honest the JSON of a well-behaved provider
 */
export function hostileAnswer(random: Random, honest: Record<string, unknown>): HostileAnswer {
  const body = hostileBody(random, honest);
  const whole = Buffer.from(JSON.stringify(honest));
  return random.pick<() => HostileAnswer>([
    () => plain(anyStatusLine(random), body),
    () => good(body, ...random.some(1, 8, () => anyHeader(random))),
    () => good(body),
    () => good(body),
    () => framed(random, body),
    () => chunked(random, body),
    () => encoded(random, body),
    () => trailing(random, body),
    () => interim(random, body),
    () => cutOff(random, whole, 'end', 'reset'),
    () => send(Buffer.from(spoilt(random, bytesOf(ok, body).toString('latin1')), 'latin1')),
    () => manyHeaders(random, body),
    () => (random.oneIn(30) ? cutOff(random, whole, 'keep') : good(whole)),
  ])();
}

const ok = 'HTTP/1.1 200 OK';

function send(bytes: Buffer, ending: HostileAnswer['ending'] = 'end'): HostileAnswer {
  return { steps: [bytes], ending };
}

function bytesOf(statusLine: string, body: Buffer, headers: readonly string[] = []): Buffer {
  const lines = [statusLine, 'Content-Type: application/json', ...headers];
  const head = `${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

function plain(statusLine: string, body: Buffer, ...headers: string[]): HostileAnswer {
  return send(bytesOf(statusLine, body, headers), 'keep');
}

function good(body: Buffer, ...headers: string[]): HostileAnswer {
  return plain(ok, body, ...headers);
}

const statuses = [
  '100',
  '101',
  '103',
  '199',
  '201',
  '204',
  '205',
  '206',
  '299',
  '301',
  '302',
  '304',
  '307',
  '400',
  '401',
  '407',
  '418',
  '429',
  '500',
  '503',
  '599',
  '600',
  '999',
  '000',
  '-200',
  '2000',
  '20',
  '2OO',
  ' 200',
  '',
] as const;

function anyStatusLine(random: Random): string {
  const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2', 'HTTP/9.9', 'ICY', ''] as const;
  const reason = random.oneIn(3) ? anyBytes(random, random.below(20)) : hostileText(random);
  return `${random.pick(versions)} ${random.oneIn(4) ? '200' : random.pick(statuses)} ${reason}`;
}

const names = [
  'Content-Length',
  'Transfer-Encoding',
  'Content-Encoding',
  'Content-Type',
  'Connection',
  'Keep-Alive',
  'Location',
  'Set-Cookie',
  'Upgrade',
  'Trailer',
  'WWW-Authenticate',
  'Proxy-Authenticate',
  'Retry-After',
  'Refresh',
  'Link',
  '__proto__',
  'constructor',
  'statusCode',
] as const;

function anyHeader(random: Random): string {
  const name = random.oneIn(5) ? anyBytes(random, random.below(12)) : random.pick(names);
  const value = random.oneIn(2)
    ? random.pick([
        '0',
        '-1',
        '18446744073709551616',
        'chunked',
        'gzip',
        'close',
        'keep-alive',
        'timeout=0',
        'timeout=-1, max=0',
        'upgrade',
        'websocket',
        'http://169.254.169.254/',
        'http://127.0.0.1:1/',
        '//evil.example',
        'text/html',
      ])
    : random.oneIn(4)
      ? anyBytes(random, random.below(30))
      : hostileText(random);
  return `${name}: ${value}`;
}

function framed(random: Random, body: Buffer): HostileAnswer {
  const length = String(body.length);
  const framing = random.pick([
    '',
    `Content-Length: ${body.length + 1}\r\n`,
    `Content-Length: ${Math.max(0, body.length - 1)}\r\n`,
    `Content-Length: ${length}\r\nContent-Length: ${length}\r\n`,
    `Content-Length: ${length}\r\nContent-Length: 1\r\n`,
    `Content-Length: ${length}, ${length}\r\n`,
    `Content-Length: ${length}\r\nTransfer-Encoding: chunked\r\n`,
    'Content-Length: 99999999999\r\n',
    'Content-Length: -1\r\n',
    'Content-Length: 0x10\r\n',
    'Transfer-Encoding: identity\r\n',
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer-Encoding: gzip\r\n',
  ]);
  const lineEnd = random.oneIn(4) ? '\n' : '\r\n';
  return send(Buffer.concat([Buffer.from(`${ok}${lineEnd}${framing}${lineEnd}`), body]));
}

function chunked(random: Random, body: Buffer): HostileAnswer {
  const half = body.length >> 1;
  const size = (length: number) =>
    random.oneIn(3)
      ? random.pick(['-1', '0x5', 'g', '', ' 5', 'ffffffffffffffffff', '5;a="\r\n"', '1\0'])
      : `${length.toString(16)}${random.oneIn(4) ? `;${hostileText(random)}` : ''}`;
  const end = random.pick([
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\nAuthorization: Bearer trailer\r\n\r\n',
    `0\r\n${'X: y\r\n'.repeat(5000)}\r\n`,
    '00000000000000000\r\n\r\n',
    '0\r\n',
    '',
  ]);
  const bytes = [
    Buffer.from(`${ok}\r\nTransfer-Encoding: chunked\r\n\r\n${size(half)}\r\n`, 'latin1'),
    body.subarray(0, half),
    Buffer.from(`\r\n${size(body.length - half)}\r\n`, 'latin1'),
    body.subarray(half),
    Buffer.from(`\r\n${end}`),
  ];
  const ending = random.oneIn(2) ? 'keep' : 'end';
  // End it here: otherwise every such call takes until its deadline.
  return send(Buffer.concat(bytes), end.endsWith('\r\n\r\n') && ending === 'keep' ? 'keep' : 'end');
}

const compressors = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;

const tenMebibytes = Buffer.alloc(10 * 1024 * 1024, ' ');
const bombs = Object.entries(compressors).map(([name, compress]) => {
  const once = compress(tenMebibytes);
  return { name, once, twice: compress(once) };
});

function encoded(random: Random, body: Buffer): HostileAnswer {
  const encodings = Object.keys(compressors) as [keyof typeof compressors];
  const name = random.pick(encodings);
  const compressed = compressors[name](body);
  const encode = (encoding: string, bytes: Buffer) => good(bytes, `Content-Encoding: ${encoding}`);
  return random.pick<() => HostileAnswer>([
    () => encode(name, compressed),
    () => encode(random.pick(encodings), compressed),
    () => encode(name, body),
    () => encode(name, compressed.subarray(0, random.below(compressed.length))),
    () => encode(name, Buffer.from(spoilt(random, compressed.toString('latin1')), 'latin1')),
    () => encode(name, Buffer.concat([compressed, compressed])),
    () => encode(name, Buffer.concat([compressed, Buffer.from(anyBytes(random, 20), 'latin1')])),
    () => encode(`${name}, ${name}`, compressors[name](compressed)),
    () => encode(Array.from({ length: 20 }, () => name).join(', '), compressed),
    () => encode(hostileText(random), body),
    () => encode(name, Buffer.alloc(0)),
    () => {
      if (!random.oneIn(20)) return encode('identity', body);
      const bomb = bombs[random.below(bombs.length)];
      return encode(bomb?.name ?? '', (random.oneIn(2) ? bomb?.once : bomb?.twice) ?? body);
    },
  ])();
}

/** An answer with further bytes after it. */
function trailing(random: Random, body: Buffer): HostileAnswer {
  const injected = Buffer.from('{"access_token":"injected","login":"injected"}');
  const answer = bytesOf(ok, body);
  // Proxies send this when they close an idle connection. Other late bytes could arrive after the next
  // request, and would look like its answer.
  const late = 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
  if (random.oneIn(3)) {
    return { steps: [answer, random.below(4), Buffer.from(late)], ending: 'end' };
  }
  const extra = random.pick([
    Buffer.from(anyBytes(random, 1 + random.below(30)), 'latin1'),
    Buffer.from('\r\n'),
    bytesOf(ok, injected),
    Buffer.from(late),
    Buffer.from('HTTP/1.1 200 OK\r\n'),
  ]);
  return send(Buffer.concat([answer, extra]), 'keep');
}

/** 1xx answers before the real one. @see RFC 9110 §15.2 */
function interim(random: Random, body: Buffer): HostileAnswer {
  const one = random.pick([
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n',
    'HTTP/1.1 102 Processing\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  ]);
  const many = Buffer.from(one.repeat(random.pick([1, 2, 100, 2000])));
  const last = random.oneIn(5) ? [] : [bytesOf(ok, body)];
  return { steps: [many, ...last], ending: last.length > 0 ? 'keep' : 'end' };
}

function cutOff(random: Random, body: Buffer, ...endings: readonly HostileAnswer['ending'][]): HostileAnswer {
  const bytes = bytesOf(ok, body);
  return send(bytes.subarray(0, random.below(bytes.length)), random.pick(endings));
}

function manyHeaders(random: Random, body: Buffer): HostileAnswer {
  const count = random.pick([10, 100, 2500]);
  const size = random.pick([1, 10, 100]);
  const name = random.pick(['X', 'Set-Cookie', '__proto__', 'Content-Type']);
  const lines = Array.from({ length: count }, (_, index) => {
    return `${name}${random.oneIn(2) ? index : ''}: ${'v'.repeat(size)}`;
  });
  return send(bytesOf(ok, body, lines));
}

const values = [
  null,
  true,
  0,
  1e308,
  '',
  'a\r\nSet-Cookie: a=b',
  '\u0000',
  '\ud800',
  'x'.repeat(20_000),
  'https://evil.example/',
  'http://169.254.169.254/',
  ['a'],
  { access_token: 'a' },
] as const;

const deep = 100_000;
const deepArray = Buffer.from('['.repeat(deep) + ']'.repeat(deep));
const deepObject = Buffer.from(`${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`);
const longText = Buffer.from(`{"login":"${'x'.repeat(1024 * 1024)}"}`);

function hostileBody(random: Random, honest: Record<string, unknown>): Buffer {
  const fields = Object.keys(honest);
  const field = fields[random.below(fields.length)] ?? 'a';
  const text = JSON.stringify(honest);
  const value = JSON.stringify(random.pick(values));
  return random.pick<() => Buffer>([
    () => Buffer.from(text),
    () => Buffer.from(JSON.stringify({ ...honest, [field]: random.pick(values) })),
    () => Buffer.from(JSON.stringify({ ...honest, [field]: random.pick(values) })),
    () => Buffer.from(`${text.slice(0, -1)},${JSON.stringify(field)}:${value}}`),
    () => Buffer.from(`${text.slice(0, -1)},"__proto__":${value},"constructor":${value}}`),
    () => Buffer.from(spoilt(random, text), 'latin1'),
    () => Buffer.concat([Buffer.from(text), Buffer.from(anyBytes(random, 9), 'latin1')]),
    () => Buffer.from(`<html>${hostileText(random)}</html>`, 'latin1'),
    () => Buffer.from('{"error":"bad_verification_code","error_description":"a"}'),
    () => Buffer.alloc(0),
    () => (random.oneIn(10) ? deepArray : Buffer.from('[[[[]]]]')),
    () => (random.oneIn(10) ? deepObject : Buffer.from('{"a":{"a":{}}}')),
    () => (random.oneIn(20) ? longText : Buffer.from('{"login":1}')),
  ])();
}
