import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectFailedVisit, expectFailure } from '../../harness/expect/failures.ts';
import { metadata, openIdPath } from '../../harness/provider/metadata.ts';
import { json, type Reply, silence } from '../../harness/provider/provider-behaviours.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import {
  callbackPath,
  loginPath,
  type Relay,
  registration,
  useRelays,
} from '../../harness/relay/relay-under-test.ts';

/** Valid metadata with these changes. */
const changed = (changes: Record<string, unknown>) => (origin: string) =>
  json(metadata(origin, changes));

describe('an issuer whose discovery fails', () => {
  const startRelay = useRelays();
  let issuer: StrictProvider;
  let relay: Relay;

  async function start(
    reply: (origin: string) => Reply,
    flags: Record<string, string> = {},
  ): Promise<void> {
    issuer.pages = { [openIdPath]: reply(issuer.origin) };
    const client = { clientId: 'client-1', clientSecret: canary('secret') };
    relay = await startRelay({ client, flags: { issuer: issuer.origin, ...flags } });
  }

  /** Checks the log for the operator, and the answers at each of the relay's addresses. */
  async function expectUndiscovered(reason: string, explanation: RegExp): Promise<void> {
    const { time: _, explanation: words, ...line } = await relay.discoveryLine('failed');
    expect(line).to.deep.equal({
      level: 'warn',
      msg: 'provider discovery',
      outcome: 'failed',
      reason,
      retryIn: 1000,
    });
    expect(words).to.match(explanation);
    expectFailedVisit(await new FakeBrowser(() => relay).visit(loginPath), 'provider_undiscovered');
    expectFailure(await relay.get(loginPath), 'provider_undiscovered');
    expectFailure(await relay.get(`${callbackPath}?code=any`), 'provider_undiscovered');
    expectFailure(await relay.userOf('any'), 'provider_undiscovered');
    const { status, provider } = await relay.requestLine('provider_undiscovered');
    expect({ status, provider }).to.deep.equal({ status: 503, provider: undefined });
  }

  beforeEach(async () => {
    issuer = await StrictProvider.start(registration());
  });
  afterEach(() => issuer.stop());

  it('one that names another issuer', async () => {
    await start(changed({ issuer: 'https://other.example' }));
    await expectUndiscovered('issuer_mismatch', /another issuer/);
  });

  it('one that takes no client secret: 503 from the start on, and not ready', async () => {
    await start(changed({ token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] }));
    const { reason, explanation } = await relay.discoveryLine('failed');
    expect(reason).to.equal('unsupported');
    expect(explanation).to.match(/without a client secret/);
    expectFailedVisit(await new FakeBrowser(() => relay).visit(loginPath), 'provider_unsupported');
    expectFailure(await relay.get(loginPath), 'provider_unsupported');
    expectFailure(await relay.get(`${callbackPath}?code=any`), 'provider_unsupported');
    const { status, body } = await relay.get('/readyz');
    expect(status).to.equal(503);
    expect(body.toString()).to.include('provider_unsupported');
  });

  it('one that never answers, until the provider timeout', async () => {
    await start(() => silence, { 'provider-timeout': '0.1' });
    await expectUndiscovered('timeout', /too long/);
  });
});
