import type { RequestListener as Listener } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';
import { type Serving, serve, serveTcp, serveTls, serveTunnels } from '../harness/provider/serve.ts';
import { type Certificate, issueCertificate } from '../harness/system/certificate.ts';
import { freePort } from '../harness/system/free-port.ts';

describe('a call', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  function clientOf(timeout = 10_000, proxy = {}): UpstreamClient {
    const client = createUpstreamClient({ timeout, concurrentCalls: 2, proxy });
    closing.push(client.close);
    return client;
  }

  function open(serving: Serving): number {
    closing.push(serving.close);
    return serving.port;
  }

  /** The outcome of a call, and whether it was sent. */
  async function call(url: string, client = clientOf()): Promise<[string, boolean]> {
    const headers = { 'content-type': 'text/plain' };
    const request = { endpoint: 'token', method: 'POST', url, headers, body: 'spent' } as const;
    const seen: [string, boolean][] = [];
    await client.call(request, ({ outcome }, isSent) => seen.push([outcome, isSent])).catch(() => {});
    return seen[0] ?? ['not observed', false];
  }

  const notSent = ['provider_unreachable', false];
  const lateNotSent = ['provider_timeout', false];

  it('is not sent if nothing listens there, and not if the host name is unknown', async () => {
    const nowhere = `127.0.0.1:${await freePort()}`;
    // No name server is asked for a label of more than 63 characters.
    const unknown = `${'a'.repeat(64)}.invalid`;
    for (const url of [`http://${nowhere}`, `https://${nowhere}`, `http://${unknown}`]) {
      expect(await call(url), url).to.deep.equal(notSent);
    }
  });

  const answers: Listener = (_, response) => response.end();
  for (const [what, listener, timeout, expected] of [
    ['is not sent if the deadline has passed before the attempt', answers, 0, lateNotSent],
    ['is sent if the provider answers', answers, 10_000, ['answered', true]],
    [
      'is sent if the provider closes the connection without an answer',
      ({ socket }) => socket.destroy(),
      10_000,
      ['provider_unreachable', true],
    ],
    [
      'is sent if the provider does not answer in time',
      () => {},
      // Long enough to connect on a busy machine.
      2000,
      ['provider_timeout', true],
    ],
  ] as [string, Listener, number, [string, boolean]][]) {
    it(what, async () => {
      const port = open(await serve(listener));
      const outcome = await call(`http://127.0.0.1:${port}`, clientOf(timeout));
      expect(outcome).to.deep.equal(expected);
    });
  }

  it('is not sent if the TLS handshake never ends', async () => {
    const port = open(await serveTcp(() => {}));
    expect(await call(`https://127.0.0.1:${port}`, clientOf(200))).to.deep.equal(lateNotSent);
  });

  it('is not sent if the proxy opens no tunnel', async () => {
    const refuse = (socket: Socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    for (const [onConnect, timeout, expected] of [
      [refuse, 5000, notSent],
      [() => {}, 200, lateNotSent],
    ] as const) {
      const proxy = { HTTPS_PROXY: `http://127.0.0.1:${open(await serveTunnels(onConnect))}` };
      const outcome = await call('https://provider.example', clientOf(timeout, proxy));
      expect(outcome).to.deep.equal(expected);
    }
  });

  it('is sent if the first attempt used a keep-alive connection, even if the second attempt cannot connect', async () => {
    let requests = 0;
    const serving = await serve(({ socket }, response) => {
      requests += 1;
      if (requests === 1) response.end();
      else void serving.close().then(() => socket.destroy());
    });
    const client = clientOf();
    const url = `http://127.0.0.1:${serving.port}`;
    expect(await call(url, client)).to.deep.equal(['answered', true]);
    expect(await call(url, client)).to.deep.equal(['provider_unreachable', true]);
    expect(requests).to.equal(2);
  });

  describe('with TLS', () => {
    let certificate: Certificate;
    before(async () => {
      certificate = await issueCertificate('localhost');
    });
    after(() => certificate.remove());

    it('is not sent if the certificate is not trusted', async () => {
      let requests = 0;
      const { key, cert } = certificate;
      const port = open(await serveTls(key + cert, () => (requests += 1)));
      expect(await call(`https://localhost:${port}`)).to.deep.equal(notSent);
      expect(requests).to.equal(0);
    });

    it('is sent if the connection ends after the handshake', async () => {
      const trusted = getCACertificates('default');
      closing.push(() => setDefaultCACertificates(trusted));
      setDefaultCACertificates([...trusted, certificate.authority]);
      const { key, cert } = certificate;
      const port = open(await serveTls(key + cert, ({ socket }) => socket.destroy()));
      const outcome = await call(`https://localhost:${port}`);
      expect(outcome).to.deep.equal(['provider_unreachable', true]);
    });

    it('needs a certificate for the name in its URL, whatever its header Host says', async () => {
      const trusted = getCACertificates('default');
      closing.push(() => setDefaultCACertificates(trusted));
      setDefaultCACertificates([...trusted, certificate.authority]);
      const ofHost = await certificate.another(['wiki.example.com']);
      for (const [{ key, cert }, expected] of [
        [certificate, 'ok'],
        [ofHost, 'provider_unreachable'],
      ] as const) {
        const port = open(await serveTls(key + cert, answers));
        const request = {
          holder: { session: 'a', address: undefined },
          method: 'GET',
          url: new URL(`https://localhost:${port}/`),
          headers: { host: 'wiki.example.com' },
          client: new PassThrough().resume(),
        } as const;
        const { response } = clientOf().stream(request, () => {});
        expect(await outcomeOf(response.then(({ discard }) => discard()))).to.equal(expected);
      }
    });
  });
});
