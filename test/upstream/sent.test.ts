import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.ts';
import {
  type Serving,
  serve,
  serveTcp,
  serveTls,
  serveTunnels,
} from '../harness/provider/serve.ts';
import { type Certificate, issueCertificate } from '../harness/system/certificate.ts';

describe('a call', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  function clientOf(timeout = 10_000, proxy = {}): UpstreamClient {
    const client = createUpstreamClient('test', { timeout, concurrentCalls: 2 }, proxy);
    closing.push(client.close);
    return client;
  }

  function open(serving: Serving): number {
    closing.push(serving.close);
    return serving.port;
  }

  async function closedPort(): Promise<number> {
    const { port, close } = await serve(() => {});
    await close();
    return port;
  }

  /** The outcome of a call, and whether it was sent. */
  async function call(url: string, client = clientOf()): Promise<[string, boolean]> {
    const headers = { 'content-type': 'text/plain' };
    const request = { endpoint: 'token', method: 'POST', url, headers, body: 'spent' } as const;
    const seen: [string, boolean][] = [];
    await client.call(request, ({ outcome, sent }) => seen.push([outcome, sent])).catch(() => {});
    return seen[0] ?? ['not observed', false];
  }

  const notSent = ['provider_unreachable', false];

  it('is not sent if nothing listens there', async () => {
    expect(await call(`http://127.0.0.1:${await closedPort()}`)).to.deep.equal(notSent);
    expect(await call(`https://127.0.0.1:${await closedPort()}`)).to.deep.equal(notSent);
  });

  it('is not sent if the host name is unknown', async () => {
    expect(await call('http://nothing.invalid')).to.deep.equal(notSent);
  });

  it('is not sent if the deadline has passed before the attempt', async () => {
    const port = open(await serve((_, response) => response.end()));
    const late = clientOf(0);
    expect(await call(`http://127.0.0.1:${port}`, late)).to.deep.equal(['provider_timeout', false]);
  });

  it('is not sent if the TLS handshake never ends', async () => {
    const port = open(await serveTcp(() => {}));
    const hasty = clientOf(200);
    const url = `https://127.0.0.1:${port}`;
    expect(await call(url, hasty)).to.deep.equal(['provider_timeout', false]);
  });

  it('is not sent if the proxy opens no tunnel', async () => {
    const refusing = open(
      await serveTunnels((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')),
    );
    const proxy = { HTTPS_PROXY: `http://127.0.0.1:${refusing}` };
    expect(await call('https://provider.example', clientOf(5000, proxy))).to.deep.equal(notSent);
    const silent = open(await serveTunnels(() => {}));
    const waiting = clientOf(200, { HTTPS_PROXY: `http://127.0.0.1:${silent}` });
    const outcome = await call('https://provider.example', waiting);
    expect(outcome).to.deep.equal(['provider_timeout', false]);
  });

  it('is sent if the provider answers', async () => {
    const port = open(await serve((_, response) => response.end()));
    expect(await call(`http://127.0.0.1:${port}`)).to.deep.equal(['answered', true]);
  });

  it('is sent if the provider closes the connection without an answer', async () => {
    const port = open(await serve(({ socket }) => socket.destroy()));
    const outcome = await call(`http://127.0.0.1:${port}`);
    expect(outcome).to.deep.equal(['provider_unreachable', true]);
  });

  it('is sent if the provider does not answer in time', async () => {
    const port = open(await serve(() => {}));
    const hasty = clientOf(200);
    const outcome = await call(`http://127.0.0.1:${port}`, hasty);
    expect(outcome).to.deep.equal(['provider_timeout', true]);
  });

  it('is sent if the first attempt used a keep-alive connection, even if the second one cannot connect', async () => {
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
  });
});
