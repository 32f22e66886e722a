import type { Agent } from 'node:http';
import { request } from '../../test/harness/client/request.ts';
import type { RawAnswer } from './answer.ts';

/**
 * Sends a GET and reads its answer.
 *
 * @param form sends this form by POST instead
 */
export async function call(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
  form?: Readonly<Record<string, string>>,
): Promise<RawAnswer> {
  // A redirect may carry a long token.
  const maxHeaderSize = 64 * 1024;
  const { Host: authority, ...further } = headers;
  const named = authority === undefined ? {} : { authority };
  const sending = {
    path,
    headers: Object.entries(further),
    agent,
    maxHeaderSize,
    repeatable: true,
    ...named,
  };
  const { status, rawHeaders, body } = await request(
    port,
    form === undefined ? sending : { ...sending, ...posted(form, further) },
  );
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 ? [] : [[name, rawHeaders[index + 1] ?? ''] as const],
  );
  return { status, headers: pairs, body: body.toString('latin1') };
}

function posted(form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) {
  const body = new URLSearchParams(form).toString();
  const type = 'application/x-www-form-urlencoded';
  const all = { ...headers, 'Content-Type': type, 'Content-Length': `${body.length}` };
  return { method: 'POST', headers: Object.entries(all), body };
}
