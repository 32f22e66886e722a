import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { expectLogin, FakeBrowser, navigation } from '../harness/browser/fake-browser.ts';
import { type Answer, send } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectToken, expectUser } from '../harness/expect/expectations.ts';
import { answer, json } from '../harness/provider/provider-behaviours.ts';
import { callbackPath, type RelayUnderTest, relayUnderTest, startRelay } from '../harness/relay/relay-under-test.ts';

const refusal = json({ error: 'bad_verification_code' });
const trusting = { 'trusted-proxies': '127.0.0.1' };
let clients = 0;

/** An address that no other test has used. */
function newClient(): string {
  clients += 1;
  return `198.51.100.${clients}`;
}

/** A relay with a counter that no other test has used up, because addresses may share a counter. */
async function addressWithRoom(ask: (address: string) => Promise<Answer>): Promise<string> {
  const address = newClient();
  const { status } = await ask(address);
  return status === 429 ? await addressWithRoom(ask) : address;
}

/** Opens a callback with a made-up code. */
function callbackFrom({ port }: RelayUnderTest, client: string): Promise<Answer> {
  return send(port, {
    path: `${callbackPath}?code=${canary('code')}`,
    headers: [['X-Forwarded-For', client]],
  });
}

function expectTooMany(answered: Answer, detail: RegExp): void {
  expect(expectError(answered, 429)).to.match(detail);
  expect(Number(answered.headers['retry-after'])).to.be.within(1, 600);
}

describe('callbacks with made-up codes', () => {
  const underTest = relayUnderTest({ ...trusting, 'metrics-port': '0' });
  let client: string;
  beforeEach(async () => {
    client = await addressWithRoom((address) => callbackFrom(underTest(), address));
    underTest().provider.forget();
    underTest().provider.onToken = refusal;
    for (let time = 0; time < 10; time += 1) {
      expectError(await callbackFrom(underTest(), client), 400);
    }
    underTest().provider.forget();
  });

  it('cost ten token requests in ten minutes, then 429 with Retry-After', async () => {
    const refused = await callbackFrom(underTest(), client);
    expectTooMany(refused, /refused too many logins from this address/);
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('are counted in a metric, and named in the log', async () => {
    expectError(await callbackFrom(underTest(), client), 429);
    await underTest().requestLine('too_many_refusals');
    const text = await underTest().metrics();
    expect(text).to.match(/login_relay_limits_hit_total\{limit="refused_exchanges"\} [1-9]/);
  });
});

describe('callbacks with made-up codes at a relay without a limit', () => {
  const underTest = relayUnderTest({ ...trusting, 'refused-exchanges': '0' });

  it('all reach the provider', async () => {
    const client = newClient();
    underTest().provider.onToken = refusal;
    for (let time = 0; time < 20; time += 1) {
      expectError(await callbackFrom(underTest(), client), 400);
    }
    expect(underTest().provider.calls).to.have.lengthOf(20);
  });
});

describe('lookups with made-up tokens', () => {
  const underTest = relayUnderTest({ ...trusting, 'metrics-port': '0' });
  const unknown = answer(401, '{}');
  let client: string;
  beforeEach(async () => {
    client = await unusedClient();
  });

  async function unusedClient(): Promise<string> {
    const address = await addressWithRoom((from) => lookUp(canary('token'), from));
    underTest().provider.forget();
    return address;
  }

  function lookUp(token = canary('token'), from = client, signal?: AbortSignal) {
    const headers: [string, string][] = [
      ['X-Forwarded-For', from],
      ['Authorization', `Bearer ${token}`],
    ];
    return underTest().send({ path: '/api/user', headers, ...(signal && { signal }) });
  }

  it('cost ten calls in ten minutes, also all at once, then 429 with Retry-After', async () => {
    underTest().provider.onUser = unknown;
    const burst = await Promise.all(Array.from({ length: 40 }, () => lookUp()));
    expect(burst.filter(({ status }) => status === 401)).to.have.lengthOf(10);
    expectTooMany(await lookUp(), /refused too many tokens from this address/);
    expect(underTest().provider.calls).to.have.lengthOf(10);
  });

  it('do not affect other addresses, callbacks, or tokens that were good', async () => {
    const issued = new FakeBrowser(underTest);
    const accepted = canary('token');
    const login = await issued.start();
    const page = expectLogin(underTest(), await issued.finish(login), login);
    expectUser(await lookUp(accepted));
    underTest().provider.onUser = unknown;
    for (let time = 0; time < 10; time += 1) expectError(await lookUp(), 401);
    underTest().provider.forget();
    expectUser(await lookUp(page.searchParams.get('access_token') ?? ''));
    expectUser(await lookUp(accepted));
    expectUser(await lookUp(canary('token'), await unusedClient()));
    expectToken(await callbackFrom(underTest(), client));
  });

  it('do not include the password of a gate, which causes no call', async () => {
    for (let time = 0; time < 12; time += 1) {
      const gate = `Basic ${btoa(`ada:${canary('secret')}`)}`;
      const headers: [string, string][] = [
        ['X-Forwarded-For', client],
        ['Authorization', gate],
      ];
      expectError(await underTest().send({ path: '/api/user', headers }), 401);
    }
    expect(underTest().provider.calls).to.deep.equal([]);
    expectUser(await lookUp());
  });

  it('are counted if the token was good before', async () => {
    const token = canary('token');
    expectUser(await lookUp(token));
    underTest().provider.onUser = unknown;
    const statuses: number[] = [];
    for (let time = 0; time < 12; time += 1) statuses.push((await lookUp(token)).status);
    expect(statuses.filter((status) => status === 401)).to.have.lengthOf(11);
    expect(statuses.at(-1)).to.equal(429);
  });

  it('are counted if the client hangs up before the answer', async () => {
    for (let time = 0; time < 10; time += 1) {
      const hangUp = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      underTest().provider.onUser = async (response) => {
        hangUp.abort();
        for (let turn = 0; turn < 5; turn += 1) await underTest().get('/healthz');
        unknown(response);
        resolve();
      };
      const asked = lookUp(canary('token'), client, hangUp.signal);
      expect(await asked.catch(() => 'hung up')).to.equal('hung up');
      await promise;
    }
    expect(expectError(await lookUp(), 429)).to.match(/refused too many tokens/);
    expect(underTest().provider.calls).to.have.lengthOf(10);
  });

  it('are no calls if the client hangs up while it waits for its turn', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { provider } = underTest();
    provider.onUser = async (response) => {
      await released;
      answer(500, '{}')(response);
    };
    const asked = Array.from({ length: 10 }, () => lookUp());
    await provider.arrivals(10);
    const hangUp = new AbortController();
    const waiting = Array.from({ length: 5 }, () =>
      lookUp(canary('token'), client, hangUp.signal).catch(() => 'hung up'),
    );
    // Once the relay has answered these, it knows of the others.
    for (let turn = 0; turn < 5; turn += 1) await underTest().get('/healthz');
    hangUp.abort();
    for (let turn = 0; turn < 5; turn += 1) await underTest().get('/healthz');
    release();
    expect(await Promise.all(waiting)).to.deep.equal(Array(5).fill('hung up'));
    for (const answered of await Promise.all(asked)) expectError(answered, 401);
    provider.onUser = answer(500, '{}');
    expectError(await lookUp(), 401);
    expect(provider.calls).to.have.lengthOf(11);
  });
});

describe('logins that succeed', () => {
  const underTest = relayUnderTest({ ...trusting, 'refused-exchanges': '1' });

  it('are limited to thirty times as many from one address, and stay open', async () => {
    const client = newClient();
    for (let time = 0; time < 30; time += 1) expectToken(await callbackFrom(underTest(), client));
    const browser = new FakeBrowser(underTest);
    const login = await browser.start();
    const headers: [string, string][] = [...navigation, ['X-Forwarded-For', client]];
    const refused = await browser.finish(login, { headers });
    expectTooMany(refused, /Too many logins and refreshes come from this address/);
    expect(setCookies(refused)).to.deep.equal([]);
    expect(underTest().provider.calls).to.have.lengthOf(30);
    await addressWithRoom((address) => callbackFrom(underTest(), address));
    expectLogin(underTest(), await browser.finish(login), login);
  });
});

it('a callback that waits for its turn survives a reload of the configuration', async () => {
  const timeout = 5000;
  const underTest = await startRelay({
    ...trusting,
    'refused-exchanges': '1',
    'provider-timeout': String(timeout / 1000),
  });
  const { provider } = underTest;
  const answerTimes: number[] = [];
  provider.onToken = (response, call) => {
    setTimeout(() => provider.issueToken(response, call), answerTimes.shift());
  };
  // Together, they take longer than the timeout of one call. So the second call ends after that time.
  answerTimes.push(timeout * 0.55, timeout * 0.55);
  const opened = [1, 2].map(() => callbackFrom(underTest, '198.51.100.1'));
  while (provider.calls.length === 0) await underTest.get('/healthz');
  await underTest.reload();
  for (const answered of await Promise.all(opened)) expectToken(answered);
  expect(provider.calls).to.have.lengthOf(2);
  await underTest.stop();
});
