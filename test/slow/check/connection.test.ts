import { expect } from 'chai';
import { type Checkup, check, diagnoseHere } from '../../check/support/check.ts';
import { endpointsAt, providerWith, withProvider } from '../../check/support/provider.ts';
import { metadata as metadataOf } from '../../harness/provider/metadata.ts';
import type { Page } from '../../harness/provider/pages.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serve, serveTcp, serveTls, serveTunnels } from '../../harness/provider/serve.ts';
import { secretFile } from '../../harness/relay/relay-under-test.ts';
import { selfSignedCertificate } from '../../harness/system/certificate.ts';
import { freePort } from '../../harness/system/free-port.ts';

/**
 * The finding on the endpoints at the address. It must be the same for each.
 *
 * @param fails who fails there as this machine does: browsers may still reach the endpoint that only they open
 */
async function complaint(
  address: string,
  checkup: Checkup = {},
  fails: 'everyone' | 'relay' = 'everyone',
): Promise<[string, string | null]> {
  // Only a process reads its certificates when it starts.
  const ask = checkup.env?.['NODE_EXTRA_CA_CERTS'] === undefined ? diagnoseHere : check;
  const result = await ask({
    ...checkup,
    flags: { ...endpointsAt(address), 'provider-timeout': '30', ...checkup.flags },
  });
  expect(result.code).to.equal(1);
  const { message, fix } = result.finding('token endpoint');
  const problem = { verdict: 'problem', message, fix };
  expect(result.finding('token endpoint')).to.include(problem);
  expect(result.finding('user lookup')).to.include(problem);
  const opened = result.finding('authorization endpoint');
  if (fails === 'everyone') expect(opened).to.include(problem);
  else {
    const unknown = `only browsers have to reach it, and from here it was not reached: ${message}`;
    expect(opened).to.include({ verdict: 'not_checked', message: unknown });
    expect(opened.fix)
      .to.match(/^open it in a browser; if that fails, .* The address is https:\S+$/)
      .and.to.contain(fix);
  }
  return [message, fix];
}

/** Runs the task with the server and its port. */
async function using<T>(serving: Promise<Serving>, task: (port: number) => Promise<T>): Promise<T> {
  const server = await serving;
  try {
    return await task(server.port);
  } finally {
    await server.close();
  }
}

describe('login-relay check, about the way to the provider', () => {
  let trusted: string;
  let expired: string;
  let early: string;
  let foreign: string;
  before('make certificates', async () => {
    [trusted, expired, early, foreign] = await Promise.all([
      selfSignedCertificate('localhost'),
      selfSignedCertificate('localhost', { from: new Date('2020'), until: new Date('2021') }),
      selfSignedCertificate('localhost', { from: new Date('2098'), until: new Date('2099') }),
      selfSignedCertificate('elsewhere.example'),
    ]);
  });

  /** The environment in which this certificate is trusted. */
  async function trusting(pem: string): Promise<Record<string, string>> {
    const authority = pem.slice(pem.indexOf('-----BEGIN CERTIFICATE-----'));
    return { NODE_EXTRA_CA_CERTS: await secretFile(authority) };
  }

  const http = (port: number) => `http://127.0.0.1:${port}`;
  const https = (port: number) => `https://localhost:${port}`;
  const healthy = providerWith({}).listener;
  const faults: Readonly<Record<string, readonly [() => Promise<Serving>, (port: number) => string, RegExp, RegExp]>> =
    {
      'a provider that does not answer in time': [
        () => serveTcp(() => {}),
        http,
        /^no answer came in time \(127\.0\.0\.1:\d+\)$/,
        /--provider-timeout/,
      ],
      'a server that does not speak HTTP': [
        () => serveTcp((socket) => socket.end('SSH-2.0-server\r\n')),
        http,
        /^the port does not speak HTTP /,
        /^check the port/,
      ],
      'https at a port without TLS': [
        () => serve(healthy),
        https,
        /^the port does not speak TLS \(localhost:\d+\)$/,
        /http:\/\/ instead of https:\/\//,
      ],
      'http at a port with TLS': [
        () => serveTls(trusted, healthy),
        (port) => `http://localhost:${port}`,
        /^the connection was cut /,
        /https:\/\/ instead of http:\/\//,
      ],
      'a certificate of an unknown authority': [
        () => serveTls(trusted, healthy),
        https,
        /^the certificate is self-signed, or /,
        /NODE_EXTRA_CA_CERTS/,
      ],
    };
  for (const [name, [serving, address, expected, advised]] of Object.entries(faults)) {
    it(`reports ${name}`, async () => {
      await using(serving(), async (port) => {
        const flags = { 'provider-timeout': name.endsWith('in time') ? '0.3' : '30' };
        const [message, fix] = await complaint(address(port), { flags });
        expect(message).to.match(expected);
        expect(fix).to.match(advised);
      });
    });
  }

  it('reports a host name that does not resolve', async () => {
    // No name server is asked for a label of more than 63 characters.
    const unknown = `${'a'.repeat(64)}.invalid`;
    const [message, fix] = await complaint(`https://${unknown}`, {}, 'relay');
    expect(message).to.equal(`the host name cannot be resolved (${unknown})`);
    expect(fix).to.match(/^check the host name/);
  });

  it('accepts a private authority that NODE_EXTRA_CA_CERTS names', async () => {
    const env = await trusting(trusted);
    await using(serveTls(trusted, providerWith({}).listener), async (port) => {
      const result = await check({ flags: endpointsAt(`https://localhost:${port}`), env });
      expect(result.complaints).to.deep.equal([]);
    });
  });

  it('advises X-Forwarded-Proto if the metadata has http instead of https, until it is sent', async () => {
    const env = await trusting(trusted);
    let proxySendsHeader = false;
    const metadata: Page = (response, { url: { host } }) => {
      const issuer = `${proxySendsHeader ? 'https' : 'http'}://${host}`;
      json(metadataOf(issuer, { userinfo_endpoint: `${issuer}/user` }))(response);
    };
    await using(serveTls(trusted, providerWith({ metadata }).listener), async (port) => {
      const run = () => check({ flags: { issuer: `https://localhost:${port}` }, env });
      expect((await run()).finding('discovery')).to.deep.equal({
        subject: 'discovery',
        verdict: 'problem',
        message: 'the metadata names this issuer with http instead of https',
        fix: 'have the proxy in front of the provider send X-Forwarded-Proto, and the provider trust it',
      });
      proxySendsHeader = true;
      expect((await run()).complaints).to.deep.equal([]);
    });
  });

  it('reports a certificate of another time or another host', async () => {
    for (const [certificate, reason] of [
      [expired, /^the certificate has expired, if the clock /],
      [early, /^the certificate is not valid yet, if the clock /],
      [foreign, /^the certificate is for another host name /],
    ] as const) {
      const env = await trusting(certificate);
      await using(serveTls(certificate, providerWith({}).listener), async (port) => {
        const [message] = await complaint(`https://localhost:${port}`, { env });
        expect(message).to.match(reason);
      });
    }
  });

  it('reports an expired certificate at the base URL as a problem, because browsers refuse it', async () => {
    const env = await trusting(expired);
    await using(serveTls(expired, providerWith({}).listener), async (port) => {
      await withProvider({}, async (flags) => {
        const baseUrl = { 'base-url': `https://localhost:${port}` };
        const result = await check({ flags: { ...flags, ...baseUrl }, env });
        expect(result.code).to.equal(1);
        expect(result.finding('base URL')).to.include({ verdict: 'problem' });
        expect(result.finding('base URL').message).to.match(/^the certificate has expired/);
      });
    });
  });

  it('names the proxy and the provider if the proxy does not run', async () => {
    const env = { HTTPS_PROXY: `http://user:hunter2@127.0.0.1:${await freePort()}` };
    const [message] = await complaint('https://provider.invalid', { env }, 'relay');
    expect(message).to.equal('nothing listens at the address (provider.invalid, or the proxy of HTTPS_PROXY)');
  });

  it('reports a proxy that refuses connections to the provider', async () => {
    const refuse = serveTunnels((socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'));
    await using(refuse, async (port) => {
      const env = { https_proxy: `http://user:hunter2@127.0.0.1:${port}` };
      const [message, fix] = await complaint('https://provider.invalid', { env }, 'relay');
      expect(message).to.equal(
        'the proxy does not let the connection through (provider.invalid, or the proxy of HTTPS_PROXY)',
      );
      expect(fix).to.match(/^check HTTPS_PROXY, its user and password/);
    });
  });
});
