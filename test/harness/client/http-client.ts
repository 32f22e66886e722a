import { Agent, type IncomingHttpHeaders } from 'node:http';
import { inspectForLeaks } from '../expect/canaries.ts';
import { RawConnection } from './raw-connection.ts';
import { type Answer, request, type Sending } from './request.ts';

export type { Answer, Sending } from './request.ts';

/** Sends one request to this machine, and looks for secrets in the answer. */
export async function send(port: number, sending: Sending): Promise<Answer> {
  return inspected(await request(port, sending));
}

/** Writes the bytes to 127.0.0.1, and reads until the relay closes the connection. */
export async function sendBytes(port: number, bytes: string | Buffer): Promise<Answer> {
  const connection = await RawConnection.open(port);
  connection.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  // The relay may answer and close the connection before it has read everything. Its answer still counts.
  await connection.closed;
  return inspected(parse(Buffer.from(connection.heard, 'latin1')));
}

/** A client that keeps its connections, so that thousands of requests need few sockets. */
export function keepAliveAgent(maxSockets: number): Agent {
  return new Agent({ keepAlive: true, maxSockets });
}

function parse(bytes: Buffer): Answer {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) throw new Error(`not an HTTP answer: ${JSON.stringify(bytes.toString())}`);
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers: IncomingHttpHeaders = {};
  const rawHeaders: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    rawHeaders.push(name, value);
    headers[name.toLowerCase()] = value;
  }
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  return { status, headers, rawHeaders, body: bytes.subarray(headEnd + 4) };
}

function inspected(answer: Answer): Answer {
  const isRedirect = answer.status >= 300 && answer.status < 400;
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    const name = answer.rawHeaders[index] ?? '';
    const value = answer.rawHeaders[index + 1] ?? '';
    const allowed = isRedirect && name.toLowerCase() === 'location';
    inspectForLeaks(`header ${name} of a ${answer.status}`, value, allowed ? ['token'] : []);
  }
  if (answer.status >= 300) {
    inspectForLeaks(`body of a ${answer.status}`, answer.body.toString('latin1'));
  }
  return answer;
}
