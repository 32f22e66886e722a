import { once } from 'node:events';
import { connect } from 'node:net';
import type { ProxyEnvironment } from '../upstream/connection-pool.ts';
import { type Finding, findingsOn } from './finding.ts';
import { explainConnection } from './unreached.ts';

const variable = 'HTTPS_PROXY';

/**
 * Connects to the outbound proxy. A call that fails does not show whether the proxy or the provider could
 * not be reached.
 *
 * @param timeout milliseconds
 * @returns with `proxyError`, the system's error code, if the proxy cannot be reached
 */
export async function checkProxy(
  proxy: ProxyEnvironment,
  timeout: number,
): Promise<{ readonly findings: readonly Finding[]; readonly proxyError?: string | undefined }> {
  const value = proxy[variable];
  if (value === undefined) return { findings: [] };
  const url = new URL(value);
  const { ok, warning } = findingsOn('proxy');
  const proxyError = await connectionError(url, timeout);
  if (proxyError === undefined) {
    return { findings: [ok(`the proxy of ${variable} accepts connections`)] };
  }
  const message = `${explainConnection(proxyError).message} (${url.host})`;
  return { findings: [warning(message, `correct or unset ${variable}`)], proxyError };
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
