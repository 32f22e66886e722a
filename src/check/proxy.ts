import { once } from 'node:events';
import { connect } from 'node:net';
import type { ProxyEnvironment } from '../upstream/connection-pool.ts';
import { explainConnection } from './connection.ts';
import { type Finding, ok, warning } from './finding.ts';

const subject = 'proxy';
const variable = 'HTTPS_PROXY';

/** What came of looking at the outbound proxy. */
export interface ProxyExamination {
  readonly findings: readonly Finding[];
  /** The system's code of why the proxy cannot be reached; undefined where it can, or there is none. */
  readonly proxyError: string | undefined;
}

/**
 * Looks whether the proxy takes connections: a call that fails does not tell whether it was the
 * proxy or the provider that could not be reached.
 *
 * @param timeout milliseconds
 */
export async function examineProxy(
  proxy: ProxyEnvironment,
  timeout: number,
): Promise<ProxyExamination> {
  const value = proxy[variable];
  if (value === undefined) return { findings: [], proxyError: undefined };
  const url = new URL(value);
  const proxyError = await connectionError(url, timeout);
  const finding =
    proxyError === undefined
      ? ok(subject, `that of ${variable} takes connections`)
      : warning(
          subject,
          `${explainConnection(proxyError).message} (${url.host})`,
          `correct or unset ${variable}`,
        );
  return { findings: [finding], proxyError };
}

async function connectionError(url: URL, timeout: number): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeout) });
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ABORT_ERR' ? 'ETIMEDOUT' : String(code);
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
