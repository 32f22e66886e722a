import { type Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tlsPorts } from '../system/variant.ts';

/** A raw answer: nothing decoded, no redirect followed. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
}

/** A request that is sent exactly as given: header pairs keep order, case and repetition. */
export interface Sending {
  method?: string;
  path: string;
  headers?: [name: string, value: string][];
  body?: string;
  agent?: Agent | undefined;
  signal?: AbortSignal;
  /** The address to send it to; 127.0.0.1 by default. */
  host?: string;
  /** The `Host` header; the address and the port by default. */
  authority?: string;
  /** The most bytes of headers in an answer. */
  maxHeaderSize?: number;
  /** Sends the request again if the server has closed an idle connection, as browsers do. */
  repeatable?: boolean;
  /** Called each time when a part of the answer's body has come, for streams that the test ends. */
  onPart?: () => void;
}

/** Sends one request to this machine and reads the whole answer. Rejects if there is none. */
export async function request(port: number, sending: Sending): Promise<Answer> {
  const { authority = `127.0.0.1:${port}`, headers = [], body, repeatable, onPart, ...options } = sending;
  const isTls = tlsPorts.has(port);
  const outgoing = (isTls ? httpsRequest : httpRequest)({
    host: '127.0.0.1',
    ...options,
    port,
    agent: (!isTls && options.agent) || false,
    rejectUnauthorized: false,
    headers: [['Host', authority], ...headers].flat(),
  });
  outgoing.end(body);
  let response: IncomingMessage;
  try {
    response = await new Promise((resolve, reject) => {
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
    });
  } catch (error) {
    const wasClosed = outgoing.reusedSocket && Object(error).code === 'ECONNRESET';
    if (repeatable && wasClosed && !options.signal?.aborted) return await request(port, sending);
    throw error;
  }
  const parts: Buffer[] = [];
  for await (const part of response) {
    parts.push(part);
    onPart?.();
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    rawHeaders: response.rawHeaders,
    body: Buffer.concat(parts),
  };
}
