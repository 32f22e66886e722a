import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issueCertificate } from '../../../harness/system/certificate.ts';
import { trust } from '../../../harness/system/trust.ts';

/** The redirect URI of the clients that are libraries. */
export const redirectUri = 'http://127.0.0.1:41234/callback';

/** Serves the metadata document of a client, over https. */
export async function startDocumentHost() {
  const certificate = await issueCertificate('localhost');
  const distrust = trust(certificate.authority);
  const host = createServer(certificate, (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ client_id: url, redirect_uris: [redirectUri] }));
  });
  await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
  const url = `https://localhost:${(host.address() as AddressInfo).port}/client.json`;
  return {
    /** Its address, which is the identifier of the client. */
    url,
    async stop(): Promise<void> {
      distrust();
      host.closeAllConnections();
      host.close();
      await certificate.remove();
    },
  };
}
