import { expect } from 'chai';
import { canary } from '../../harness/expect/canaries.ts';
import { expectToken, expectUser } from '../../harness/expect/expectations.ts';
import { ForwardProxy } from '../../harness/provider/forward-proxy.ts';
import { metadata, openIdPath } from '../../harness/provider/metadata.ts';
import { json, type Reply } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serveTls } from '../../harness/provider/serve.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import { callbackPath, type Relay, registration, useRelays } from '../../harness/relay/relay-under-test.ts';
import { type Certificate, issueCertificate } from '../../harness/system/certificate.ts';

const user = { login: 'ada' };

describe('a relay behind an outbound proxy', () => {
  let proxy: ForwardProxy;
  // A relay must be able to end while it waits for anything.
  afterEach('break every connection to the proxy', () => proxy.drop());
  const startRelay = useRelays();
  let provider: StrictProvider;
  let https: Serving;
  let certificate: Certificate;

  before('start the provider and the proxy', async () => {
    certificate = await issueCertificate('provider.example', 'localhost');
    provider = await StrictProvider.start(registration());
    https = await serveTls(certificate.key + certificate.cert, provider.listener);
    proxy = await ForwardProxy.start({
      'provider.example:443': https.port,
      'other.example:443': https.port,
    });
  });
  beforeEach(() => {
    provider.pages = wellBehaved;
    provider.forget();
    proxy.forget();
  });
  after(async () => {
    await proxy.close();
    await Promise.all([provider.stop(), https.close()]);
    await certificate.remove();
  });

  const endpointsAt = (origin: string) => ({
    'authorize-url': `${origin}/authorize`,
    'token-url': `${origin}/token`,
    'user-url': `${origin}/user`,
    'token-request': 'body',
  });

  /** A relay that trusts the certificate, and uses the proxy for https unless told otherwise. */
  async function start(
    flags: Record<string, string>,
    env: Record<string, string> = { HTTPS_PROXY: proxy.url },
  ): Promise<Relay> {
    return await startRelay({
      client: { clientId: 'client-1', clientSecret: canary('secret') },
      flags,
      env: { NODE_EXTRA_CA_CERTS: certificate.authorityFile, ...env },
    });
  }

  async function logIn(relay: Relay): Promise<string> {
    return expectToken(await relay.get(`${callbackPath}?code=${canary('code')}`));
  }

  describe('with a provider on https', () => {
    it('makes both calls through one keep-alive tunnel', async () => {
      const relay = await start(endpointsAt('https://provider.example'));
      const logins = 10;
      for (let count = 0; count < logins; count += 1) {
        expect(expectUser(await relay.userOf(await logIn(relay)))).to.deep.equal(user);
      }
      expect(proxy.tunnels).to.deep.equal(['provider.example:443']);
      const requests = provider.pageRequests.map(({ method, url }) => `${method} ${url.pathname}`);
      expect(requests).to.deep.equal(Array(logins).fill(['POST /token', 'GET /user']).flat());
    });

    it('also discovers the provider through the proxy', async () => {
      const relay = await start({ issuer: 'https://provider.example' });
      await relay.discoveryLine('discovered');
      expectUser(await relay.userOf('any'));
      expect(provider.asked).to.deep.equal([openIdPath, '/userinfo']);
      expect(proxy.tunnels).to.deep.equal(['provider.example:443']);
    });

    it('does not use the proxy for a host in NO_PROXY', async () => {
      const relay = await start(endpointsAt(`https://localhost:${https.port}`), {
        HTTPS_PROXY: proxy.url,
        NO_PROXY: 'intranet.example,localhost',
      });
      expectUser(await relay.userOf('any'));
      expect(proxy.connections).to.equal(0);
    });

    it('sends its credentials only to the proxy, even from a variable in lower case', async () => {
      proxy.credentials = 'relay:p@ss:w%rd';
      const authority = `relay:${encodeURIComponent('p@ss:w%rd')}`;
      const relay = await start(endpointsAt('https://provider.example'), {
        https_proxy: proxy.url.replace('//', `//${authority}@`),
      });
      expectUser(await relay.userOf('any'));
      const [request] = provider.pageRequests;
      expect(request?.headers).not.to.have.property('proxy-authorization');
      expect(relay.process.stdout).not.to.contain('w%');
      expect(relay.process.stdout).not.to.contain('p%40ss');
    });
  });

  it('does not use the proxy for a provider on http, which is on this machine', async () => {
    const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    const relay = await start(endpointsAt(provider.origin), env);
    expectUser(await relay.userOf(await logIn(relay)));
    expect(proxy.connections).to.equal(0);
  });
});

const wellBehaved = {
  '/token': (response) => json({ access_token: canary('token'), token_type: 'Bearer' })(response),
  '/user': json(user),
  '/userinfo': json(user),
  [openIdPath]: json(metadata('https://provider.example')),
} satisfies Record<string, Reply>;
