type Header = readonly [name: string, value: string];

/** A message of HTTP/1.1. Each byte is a character. */
export interface Message {
  readonly line: string;
  readonly headers: readonly Header[];
  readonly body: string;
  readonly trailers: readonly Header[];
}

/** The bytes are not what a careful sender writes, so that two receivers could understand them differently. */
class Ambiguous extends Error {}

/** The values of a header. @param name in lower case */
export const valuesOf = ({ headers }: Pick<Message, 'headers'>, name: string): readonly string[] =>
  headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);

/**
 * Takes the first message off the bytes of a connection.
 *
 * @param hasBody whether it may have a body, by its line
 * @param untilClose whether a body without a length is complete, because the connection has closed; or undefined if it
 * has no body
 * @returns undefined if it is not complete yet
 * @throws {Ambiguous}
 */
export function takeMessage(
  bytes: string,
  hasBody: (line: string) => boolean,
  untilClose?: boolean,
): { message: Message; rest: string } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...lines] = bytes.slice(0, end).split('\r\n');
  const headers = lines.map(readHeader);
  const rest = bytes.slice(end + 4);
  const taken = hasBody(line) ? takeBody(headers, rest, untilClose) : { body: '', trailers: [], rest };
  return taken && { message: { line, headers, body: taken.body, trailers: taken.trailers }, rest: taken.rest };
}

function readHeader(line: string): Header {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+): ?([^\r\n]*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Ambiguous(`no header: ${JSON.stringify(line)}`);
  return [name, value];
}

function takeBody(headers: readonly Header[], bytes: string, untilClose: boolean | undefined) {
  const codings = valuesOf({ headers }, 'transfer-encoding');
  const lengths = valuesOf({ headers }, 'content-length');
  if (codings.length + lengths.length > 1) throw new Ambiguous(`lengths ${lengths}, codings ${codings}`);
  const [coding] = codings;
  const [length] = lengths;
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw new Ambiguous(`coding ${JSON.stringify(coding)}`);
    return takeChunks(bytes);
  }
  if (length === undefined) {
    if (untilClose === undefined) return { body: '', trailers: [], rest: bytes };
    return untilClose ? { body: bytes, trailers: [], rest: '' } : undefined;
  }
  if (!/^\d+$/.test(length)) throw new Ambiguous(`length ${JSON.stringify(length)}`);
  if (bytes.length < Number(length)) return undefined;
  return { body: bytes.slice(0, Number(length)), trailers: [], rest: bytes.slice(Number(length)) };
}

function takeChunks(bytes: string): { body: string; trailers: readonly Header[]; rest: string } | undefined {
  let body = '';
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const size = bytes.slice(at, end);
    if (!/^[\da-f]+$/i.test(size)) throw new Ambiguous(`size of a chunk: ${JSON.stringify(size)}`);
    const length = Number.parseInt(size, 16);
    at = end + 2;
    if (length === 0) return takeTrailers(bytes.slice(at), body);
    if (bytes.length < at + length + 2) return undefined;
    body += bytes.slice(at, at + length);
    at += length;
    if (bytes.slice(at, at + 2) !== '\r\n') throw new Ambiguous('a chunk has no end');
    at += 2;
  }
}

function takeTrailers(bytes: string, body: string) {
  if (bytes.startsWith('\r\n')) return { body, trailers: [], rest: bytes.slice(2) };
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  return { body, trailers: bytes.slice(0, end).split('\r\n').map(readHeader), rest: bytes.slice(end + 4) };
}

/** Whether a response has a body, by its line. @param method of its request @see RFC 9112 §6.3 */
const answersWithBody = (method: string) => (line: string) =>
  method !== 'HEAD' && !/^HTTP\/1\.[01] (?:1\d\d|204|304)\b/.test(line);

/**
 * The final responses that a client has got.
 *
 * @param method of the requests
 * @param hasClosed whether the server has closed the connection
 * @returns also what is left, which belongs to no complete response
 */
export function finalResponses(bytes: string, method: string, hasClosed: boolean) {
  const responses: Message[] = [];
  let rest = bytes;
  for (;;) {
    const taken = takeMessage(rest, answersWithBody(method), hasClosed);
    if (taken === undefined) return { responses, rest };
    ({ rest } = taken);
    const { message } = taken;
    if (/^HTTP\/1\.[01] 101 /.test(message.line)) return { responses: [...responses, message], rest };
    if (!/^HTTP\/1\.[01] 1/.test(message.line)) responses.push(message);
  }
}
