import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectFailedVisit, expectFailure } from '../../harness/expect/failures.ts';
import {
  type CertifiedProvider,
  signIn,
  startCertifiedProvider,
} from '../../harness/provider/certified-provider.ts';
import { metadata } from '../../harness/provider/metadata.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';
import { callbackPath, loginPath, useRelays } from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';

describe('a provider that is down for a while', () => {
  const startRelay = useRelays();
  const client = { clientId: 'client-1', clientSecret: canary('secret') };
  let provider: CertifiedProvider | undefined;

  afterEach(async () => {
    await provider?.close();
    provider = undefined;
  });

  it('because it takes no client secret: 503 from the start on, and the relay is not ready', async () => {
    const changes = { token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] };
    const issuer = await serve(({ headers }, response) =>
      json(metadata(`http://${headers.host}`, changes))(response),
    );
    const flags = { issuer: `http://127.0.0.1:${issuer.port}` };
    const relay = await startRelay({ client, flags });
    expect(await relay.discoveryLine('failed')).to.include({ reason: 'unsupported' });
    expectFailedVisit(await new FakeBrowser(() => relay).visit(loginPath), 'provider_unsupported');
    expectFailure(await relay.get(loginPath), 'provider_unsupported');
    expectFailure(await relay.get(`${callbackPath}?code=any`), 'provider_unsupported');
    const { status, body } = await relay.get('/readyz');
    expect(status).to.equal(503);
    expect(body.toString()).to.include('provider_unsupported');
    await issuer.close();
  });

  it('at a callback: the callback can be retried', async () => {
    const port = await freePort();
    provider = await startCertifiedProvider({ client, port });
    const flags = { issuer: provider.issuer };
    const known = await startRelay({ client, flags });
    let relay = known;
    const browser = new FakeBrowser(() => relay);
    const loginPage = await browser.visit(loginPath);

    // Nothing listens there, so the relay has no provider after the restart.
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    relay = await startRelay({ client, flags: { issuer: nowhere } });
    const refused = await signIn(browser, loginPage, 'ada');
    expectFailedVisit(refused, 'provider_undiscovered');
    expect(refused.headers).not.to.have.property('set-cookie');

    relay = known;
    const { url } = await browser.visit(refused.url.href);
    expect([...url.searchParams.keys()]).to.deep.equal(['access_token']);
  });
});
