import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { expectError, expectUser } from '../../harness/expect/expectations.ts';
import { withRelay } from '../../harness/relay/relay-under-test.ts';
import { type Certificate, issueCertificate } from '../../harness/system/certificate.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';

describe('a certificate of the provider', () => {
  const day = 86_400_000;
  const lastWeek = { from: new Date(Date.now() - 7 * day), until: new Date(Date.now() - day) };
  const nextWeek = { from: new Date(Date.now() + day), until: new Date(Date.now() + 7 * day) };
  let authority: Certificate | undefined;
  const sound = () => {
    if (authority === undefined) throw new Error('there is no authority yet');
    return authority;
  };
  before(async () => {
    authority = await issueCertificate('localhost');
  });
  after(async () => await authority?.remove());

  for (const { name, code, make } of [
    {
      name: 'has expired',
      code: 'CERT_HAS_EXPIRED',
      make: () => sound().another(['localhost'], lastWeek),
    },
    {
      name: 'is not valid yet',
      code: 'CERT_NOT_YET_VALID',
      make: () => sound().another(['localhost'], nextWeek),
    },
    {
      name: 'is for another host',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      make: () => sound().another(['other.example']),
    },
  ]) {
    fault(
      `the provider's certificate ${name}`,
      '502 and the reason in the log, until it is replaced',
      async () => {
        const asked: string[] = [];
        const server = createServer(await make(), (request, response) => {
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
            const line = await underTest.process.logLine(
              ({ outcome }) => outcome === 'provider_unreachable',
            );
            expect(line['provider']).to.include({ error: code });
            expect(asked).to.deep.equal([]);
            server.setSecureContext(sound());
            await eventually(async () => expectUser(await underTest.lookUp()));
          });
        } finally {
          server.close();
          server.closeAllConnections();
        }
      },
    );
  }
});
