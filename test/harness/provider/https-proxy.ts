import { request as send } from 'node:http';
import { selfSignedCertificate } from '../system/certificate.ts';
import { serveTls } from './serve.ts';

/** Terminates TLS in front of a server on this machine. */
export interface HttpsProxy {
  /** Its address, without a path. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts a proxy with a new certificate that no client trusts.
 *
 * @param name the host name that it answers to
 * @param port the target of the requests, which are not changed
 */
export async function startHttpsProxy(name: string, port: number): Promise<HttpsProxy> {
  const pem = await selfSignedCertificate(name);
  const { port: tlsPort, close } = await serveTls(pem, (request, response) => {
    const forwarded = send({
      host: '127.0.0.1',
      port,
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
    });
    forwarded.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  return { url: `https://${name}:${tlsPort}`, close };
}
