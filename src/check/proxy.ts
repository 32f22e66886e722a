import { once } from 'node:events';
import { connect } from 'node:net';
import type { ProxyEnvironment } from '../upstream/connection-pool.ts';
import { type Finding, ok, warning } from './finding.ts';
import { explainConnection } from './unreached.ts';

const subject = 'proxy';
const variable = 'HTTPS_PROXY';

/** What is known of the outbound proxy. */
interface ProxyCheck {
  readonly findings: readonly Finding[];
  /** The system's error code if the proxy cannot be reached; undefined if it can, or there is no proxy. */
  readonly proxyError: string | undefined;
}

/**
 * Connects to the proxy. A call that fails does not show whether the proxy or the provider could not
 * be reached.
 *
 * @param timeout milliseconds
 */
export async function checkProxy(proxy: ProxyEnvironment, timeout: number): Promise<ProxyCheck> {
  const value = proxy[variable];
  if (value === undefined) return { findings: [], proxyError: undefined };
  const url = new URL(value);
  const proxyError = await connectionError(url, timeout);
  const finding =
    proxyError === undefined
      ? ok(subject, `the proxy of ${variable} accepts connections`)
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
