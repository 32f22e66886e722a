import { connect } from 'node:tls';
import { type Serving, serveTcp } from '../../../harness/provider/serve.ts';
import type { Balancer } from './balancer.ts';

/**
 * A port that forwards plain HTTP through the balancer's TLS, from another address of this machine.
 *
 * @param localAddress `127.0.1.1`
 */
export async function clientAddress(balancer: Balancer, localAddress: string): Promise<Serving> {
  return await serveTcp((plain) => {
    const target = { port: balancer.tlsPort, host: '127.0.0.1', localAddress };
    const secured = connect({ ...target, rejectUnauthorized: false });
    plain.pipe(secured).pipe(plain);
    plain.on('close', () => secured.destroy());
    secured.on('error', () => plain.destroy());
  });
}
