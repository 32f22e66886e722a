import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../src/failures/relay-error.ts';
import { createRefusalLimit } from '../../src/login/refusal-limit.ts';
import { counted } from '../../src/memory/kinds.ts';
import { send } from '../harness/client/http-client.ts';
import { serve } from '../harness/provider/serve.ts';
import { createRelayHere } from '../harness/relay/relay-in-process.ts';

const most = 10;

/** It chooses the counters by a fixed seed, with which no two addresses of these tests share a counter. */
const home = {
  now: Date.now,
  shared: Object.create({ seed: () => 'seed', run: async () => undefined }),
};

describe('the limit of refused exchanges', () => {
  let refused: ReturnType<typeof createRefusalLimit>;
  let started: number;
  beforeEach(() => {
    refused = createRefusalLimit(home, counted.refusedExchanges, 'The provider refused. Start the login again');
    started = 0;
  });

  /** @returns `token`, or the code of the failure */
  async function attempt(address: string, failure?: FailureCode): Promise<string> {
    const exchange = async () => {
      started += 1;
      // Like the provider's response, this comes after all other requests have started.
      await new Promise(setImmediate);
      if (failure !== undefined) throw new RelayError(failure);
      return 'token';
    };
    return await refused.limit(address, most, exchange).catch(({ code }) => code);
  }

  async function use(address: string, failure: FailureCode, times = most): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      expect(await attempt(address, failure)).to.equal(failure);
    }
  }

  /** Starts as many exchanges as each address may have in flight. They end with `release`. */
  function hold(...addresses: string[]): { inFlight: Promise<string>[]; release: () => void } {
    const { promise, resolve } = Promise.withResolvers<string>();
    const inFlight = addresses.flatMap((address) =>
      Array.from({ length: most }, () => refused.limit(address, most, () => promise)),
    );
    return { inFlight, release: () => resolve('token') };
  }

  const waitingFrom = (address: string) => Array.from({ length: 256 }, () => attempt(address));

  async function expectTokens(...attempts: Promise<string>[]): Promise<void> {
    expect(new Set(await Promise.all(attempts))).to.deep.equal(new Set(['token']));
  }

  const refusalOf = (address: string): Promise<unknown> =>
    refused.limit(address, most, async () => '').catch((error: unknown) => error);

  for (const failure of ['code_refused', 'token_refused', 'token_missing'] as const) {
    it(`is reached by ten exchanges that end with ${failure}`, async () => {
      await use('192.0.2.1', failure);
      expect(await attempt('192.0.2.1')).to.equal('too_many_refusals');
      expect(started).to.equal(most);
    });
  }

  for (const failure of [
    'client_refused',
    'redirect_uri_refused',
    'token_endpoint_failed',
    'provider_timeout',
    'provider_unreachable',
    'overloaded',
    'lookup_failed',
    'lookup_forbidden',
  ] as const) {
    it(`is not reached by ${failure}, which is not the client's fault`, async () => {
      await use('192.0.2.1', failure, 2 * most);
      expect(await attempt('192.0.2.1')).to.equal('token');
    });
  }

  it('is not reached by logins that succeed', async () => {
    for (let time = 0; time < 2 * most; time += 1) {
      expect(await attempt('192.0.2.1')).to.equal('token');
    }
  });

  it('is separate for each address', async () => {
    await use('192.0.2.1', 'code_refused');
    expect(await attempt('192.0.2.2')).to.equal('token');
  });

  it('holds for a burst, of which at most ten exchanges are made at once', async () => {
    const burst = Array.from({ length: 100 }, () => attempt('192.0.2.1', 'code_refused'));
    const results = await Promise.all(burst);
    expect(started).to.equal(most);
    expect(results.filter((result) => result === 'code_refused')).to.have.lengthOf(most);
    expect(results.filter((result) => result === 'too_many_refusals')).to.have.lengthOf(90);
  });

  it('does not refuse a burst of honest logins, which take turns', async () => {
    await expectTokens(...Array.from({ length: 100 }, () => attempt('192.0.2.1')));
    expect(started).to.equal(100);
  });

  it('lets 256 exchanges wait for their turn, and tells others to retry after a second', async () => {
    const { inFlight, release } = hold('192.0.2.1');
    const waiting = waitingFrom('192.0.2.1');
    const error = await refusalOf('192.0.2.1');
    expect(error).to.be.an.instanceOf(RelayError).and.include({ code: 'rate_limited' });
    expect(error).to.have.deep.property('headers', { 'Retry-After': '1' });
    expect(await attempt('192.0.2.2')).to.equal('token');
    release();
    await expectTokens(...inFlight, ...waiting);
  });

  it('lets other addresses wait if one address has filled its part of the queue', async () => {
    const { inFlight, release } = hold('192.0.2.1', '192.0.2.2');
    const waiting = [...waitingFrom('192.0.2.1'), attempt('192.0.2.2')];
    expect(await attempt('192.0.2.1')).to.equal('rate_limited');
    release();
    await expectTokens(...inFlight, ...waiting);
  });

  it('lets at most 1,024 exchanges of all addresses wait', async () => {
    const addresses = [1, 2, 3, 4, 5].map((host) => `192.0.2.${host}`);
    const { inFlight, release } = hold(...addresses);
    const waiting = addresses.slice(0, 4).flatMap(waitingFrom);
    expect(await attempt('192.0.2.5')).to.equal('rate_limited');
    release();
    await expectTokens(...inFlight, ...waiting);
  });

  it('says when to retry', async () => {
    await use('192.0.2.1', 'code_refused');
    const error = await refusalOf('192.0.2.1');
    if (!(error instanceof RelayError)) throw new Error('no RelayError');
    expect(Number(error.headers['Retry-After'])).to.be.within(500, 600);
    expect(error.detail).to.match(/Start the login again in (9|10) minutes\.$/);
  });
});

it('a token that was accepted within the last hour is not limited, however old it is', async () => {
  const provider = await serve(({ headers }, response) => {
    response.statusCode = headers.authorization === 'Bearer good' ? 200 : 401;
    response.end('{}');
  });
  let time = 1_800_000_000_000;
  const origin = `http://127.0.0.1:${provider.port}`;
  const relay = await createRelayHere(
    {
      authorizeUrl: `${origin}/authorize`,
      tokenUrl: `${origin}/token`,
      userUrl: `${origin}/user`,
      trustedProxies: '127.0.0.1',
    },
    () => {},
    () => time,
  );
  const { port, close } = await serve(relay.listener);
  const statusFor = async (token: string) => {
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${token}`],
      ['X-Forwarded-For', '198.51.100.1'],
    ];
    return (await send(port, { path: '/api/user', headers })).status;
  };
  try {
    expect(await statusFor('good')).to.equal(200);
    time += 50 * 60_000;
    expect(await statusFor('good')).to.equal(200);
    time += 50 * 60_000;
    for (let made = 0; made < 10; made += 1) expect(await statusFor(`made-up-${made}`)).to.equal(401);
    expect(await statusFor('made-up')).to.equal(429);
    expect(await statusFor('good')).to.equal(200);
  } finally {
    await close();
    relay.close();
    await provider.close();
  }
});
