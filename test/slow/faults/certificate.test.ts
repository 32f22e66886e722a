import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { expectError, expectUser } from '../../harness/expect/expectations.ts';
import { withRelay } from '../../harness/relay/relay-under-test.ts';
import { issueCertificate } from '../../harness/system/certificate.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';
import { startedOnce } from '../../harness/system/started-once.ts';

describe('a certificate of the provider', () => {
  const day = 86_400_000;
  const lastWeek = { from: new Date(Date.now() - 7 * day), until: new Date(Date.now() - day) };
  const nextWeek = { from: new Date(Date.now() + day), until: new Date(Date.now() + 7 * day) };
  const sound = startedOnce(
    'an authority',
    () => issueCertificate('localhost'),
    (certificate) => certificate.remove(),
  );

  for (const [name, code, host, times] of [
    ['has expired', 'CERT_HAS_EXPIRED', 'localhost', lastWeek],
    ['is not valid yet', 'CERT_NOT_YET_VALID', 'localhost', nextWeek],
    ['is for another host', 'ERR_TLS_CERT_ALTNAME_INVALID', 'other.example', undefined],
  ] as const) {
    fault(`the provider's certificate ${name}`, '502 and the reason in the log, until it is replaced', async () => {
      const asked: string[] = [];
      const server = createServer(await sound().another([host], times), (request, response) => {
        asked.push(request.url ?? '');
        response.setHeader('Content-Type', 'application/json').end('{"login":"ada"}');
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `https://localhost:${(server.address() as AddressInfo).port}/user`;
      const env = { NODE_EXTRA_CA_CERTS: sound().authorityFile };
      try {
        await withRelay({ flags: { 'user-url': url }, env }, async (underTest) => {
          expectError(await underTest.lookUp(), 502);
          const line = await underTest.process.logLine(({ outcome }) => outcome === 'provider_unreachable');
          expect(line['provider']).to.include({ error: code });
          expect(asked).to.deep.equal([]);
          server.setSecureContext(sound());
          await eventually(async () => expectUser(await underTest.lookUp()));
        });
      } finally {
        server.close();
        server.closeAllConnections();
      }
    });
  }
});
