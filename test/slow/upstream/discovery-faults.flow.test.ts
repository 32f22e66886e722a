import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectFailedVisit, expectFailure } from '../../harness/expect/failures.ts';
import { metadata, oauthPath, openIdPath } from '../../harness/provider/metadata.ts';
import {
  answer,
  hangUp,
  html,
  json,
  type Reply,
  redirect,
  silence,
} from '../../harness/provider/provider-behaviours.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import {
  callbackPath,
  loginPath,
  type Relay,
  registration,
  useRelays,
} from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';

/** Valid metadata with these changes. */
const changed = (changes: Record<string, unknown>) => (origin: string) =>
  json(metadata(origin, changes));

const endless: Reply = (response) => {
  const write = () => {
    while (response.write(' '.repeat(65536)));
  };
  response.on('drain', write);
  response.writeHead(200);
  write();
};

describe('an issuer whose discovery fails', () => {
  const startRelay = useRelays();
  let issuer: StrictProvider;
  let relay: Relay;

  async function start(
    reply: (origin: string) => Reply,
    configured: (origin: string) => string = (origin) => origin,
    flags: Record<string, string> = {},
  ): Promise<void> {
    issuer.pages = { [openIdPath]: reply(issuer.origin) };
    await startRelayFor(configured(issuer.origin), flags);
  }

  async function startRelayFor(url: string, flags: Record<string, string> = {}): Promise<void> {
    const client = { clientId: 'client-1', clientSecret: canary('secret') };
    relay = await startRelay({ client, flags: { issuer: url, ...flags } });
  }

  /** Checks the log for the operator, and the answers at each of the relay's addresses. */
  async function expectUndiscovered(
    reason: string,
    explanation: RegExp,
    error?: string,
  ): Promise<void> {
    const { time: _, explanation: words, ...line } = await relay.discoveryLine('failed');
    expect(line).to.deep.equal({
      level: 'warn',
      msg: 'provider discovery',
      outcome: 'failed',
      reason,
      ...(error !== undefined && { error }),
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

  const faults: readonly {
    name: string;
    reply: (origin: string) => Reply;
    configured?: (origin: string) => string;
    reason: string;
    explanation: RegExp;
    error?: string;
  }[] = [
    {
      name: 'one that names another issuer',
      reply: changed({ issuer: 'https://other.example' }),
      reason: 'issuer_mismatch',
      explanation: /another issuer/,
    },
    {
      name: 'one whose name lacks the slash that is configured',
      reply: changed({}),
      configured: (origin) => `${origin}/`,
      reason: 'issuer_mismatch',
      explanation: /exactly/,
    },
    {
      name: 'one that answers with a page',
      reply: () => html(200, 'Welcome'),
      reason: 'not_json',
      explanation: /not a JSON object/,
    },
    {
      name: 'one that answers 500',
      reply: () => answer(500, '{}'),
      reason: 'unavailable',
      explanation: /server error/,
    },
    {
      name: 'one that hangs up',
      reply: () => hangUp,
      reason: 'unreachable',
      explanation: /cannot be reached/,
      error: 'ECONNRESET',
    },
    {
      name: 'one whose metadata never ends',
      reply: () => endless,
      reason: 'too_large',
      explanation: /larger than 1 MiB/,
    },
    {
      name: 'one without a token endpoint',
      reply: changed({ token_endpoint: undefined }),
      reason: 'endpoint_missing',
      explanation: /no token_endpoint/,
    },
    {
      name: 'one whose endpoint is on plain http beyond this machine',
      reply: changed({ token_endpoint: 'http://sso.example.com/token' }),
      reason: 'endpoint_unusable',
      explanation: /https URL/,
    },
    {
      name: 'one whose endpoint is where clouds keep their secrets',
      reply: changed({ userinfo_endpoint: 'https://169.254.169.254/' }),
      reason: 'endpoint_unusable',
      explanation: /endpoint/,
    },
  ];

  for (const { name, reply, configured, reason, explanation, error } of faults) {
    it(`${name}: 503 with Retry-After, and the log says ${reason}`, async () => {
      await start(reply, configured);
      await expectUndiscovered(reason, explanation, error);
    });
  }

  it('one without metadata at both addresses', async () => {
    await startRelayFor(`${issuer.origin}/realms/main`);
    await expectUndiscovered('not_found', /no metadata at the issuer/);
    expect(issuer.asked.slice(0, 2)).to.deep.equal([
      `/realms/main${openIdPath}`,
      `${oauthPath}/realms/main`,
    ]);
  });

  it('one that redirects elsewhere', async () => {
    issuer.pages = { [openIdPath]: redirect('https://elsewhere.example/') };
    await startRelayFor(issuer.origin);
    await expectUndiscovered('redirected', /another origin, https:\/\/elsewhere\.example: check/);
  });

  for (const [what, changes, words] of [
    [
      'takes no client secret',
      { token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] },
      /without a client secret/,
    ],
    [
      'requires pushed authorization requests',
      { require_pushed_authorization_requests: true },
      /pushed authorization requests/,
    ],
  ] as const) {
    it(`one that ${what}: 503 from the start on, and not ready`, async () => {
      await start(changed(changes));
      const { reason, explanation } = await relay.discoveryLine('failed');
      expect(reason).to.equal('unsupported');
      expect(explanation).to.match(words);
      expectFailedVisit(
        await new FakeBrowser(() => relay).visit(loginPath),
        'provider_unsupported',
      );
      expectFailure(await relay.get(loginPath), 'provider_unsupported');
      expectFailure(await relay.get(`${callbackPath}?code=any`), 'provider_unsupported');
      const { status, body } = await relay.get('/readyz');
      expect(status).to.equal(503);
      expect(body.toString()).to.include('provider_unsupported');
    });
  }

  it('one that is not reachable', async () => {
    await startRelayFor(`http://127.0.0.1:${await freePort()}`);
    await expectUndiscovered('unreachable', /cannot be reached/, 'ECONNREFUSED');
  });

  it('one that never answers, until the provider timeout', async () => {
    await start(() => silence, undefined, { 'provider-timeout': '0.1' });
    await expectUndiscovered('timeout', /too long/);
  });
});
