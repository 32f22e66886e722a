import { once } from 'node:events';
import { type Agent, get } from 'node:http';
import type { RawAnswer } from './answer.ts';

/** Sends a GET and reads its answer. */
export async function call(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<RawAnswer> {
  // A redirect may carry a long token.
  const maxHeaderSize = 64 * 1024;
  const request = get({ host: '127.0.0.1', port, path, headers, agent, maxHeaderSize });
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = await response.toArray();
  const raw: string[] = response.rawHeaders;
  return {
    status: response.statusCode,
    headers: raw.flatMap((name, index) =>
      index % 2 ? [] : [[name, raw[index + 1] ?? ''] as const],
    ),
    body: Buffer.concat(chunks).toString('latin1'),
  };
}
