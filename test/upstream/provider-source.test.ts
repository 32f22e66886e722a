import { mock } from 'node:test';
import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { DiscoveryError } from '../../src/oauth/metadata.ts';
import type { Provider } from '../../src/providers/provider.ts';
import {
  cacheByProvider,
  type DiscoveryAttempt,
  type ProviderSource,
  startDiscovery,
} from '../../src/upstream/provider-source.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('a provider that is discovered in the background', () => {
  let outcomes: (() => Promise<Provider>)[];
  let attempts: DiscoveryAttempt[];
  let calls: number;
  let source: ProviderSource | undefined;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    outcomes = [];
    attempts = [];
    calls = 0;
  });
  afterEach(() => {
    source?.close();
    source = undefined;
    mock.timers.reset();
  });

  const known = (name: string) => async () => provider(name);
  const failing = async () => {
    throw new DiscoveryError('unreachable', { code: 'ECONNREFUSED' });
  };

  /** The results of the next attempts. After the last result, there are no more. */
  async function learn(...ends: (() => Promise<Provider>)[]): Promise<ProviderSource> {
    outcomes.push(...ends);
    source = await startDiscovery(
      () => {
        calls += 1;
        const outcome = outcomes.shift();
        if (outcome === undefined) throw new Error('nothing was expected of discovery');
        return outcome();
      },
      (attempt) => attempts.push(attempt),
    );
    return source;
  }

  /** Moves the clock, and waits until all that it has started is over. */
  async function pass(milliseconds: number): Promise<void> {
    mock.timers.tick(milliseconds);
    await settled();
  }

  const addressOf = (from: ProviderSource) => from.current().tokenUrl;

  function expectUnknown(from: ProviderSource): void {
    expect(() => from.current()).to.throw(RelayError, 'provider_undiscovered');
  }

  it('is known after the first attempt', async () => {
    const learned = await learn(known('one'));
    expect(addressOf(learned)).to.equal('https://one.example/token');
    expect(attempts).to.deep.equal([{ outcome: 'discovered' }]);
  });

  it('is the provider that was known before until the issuer has answered', async () => {
    const attempt = Promise.withResolvers<Provider>();
    const creating = startDiscovery(
      () => attempt.promise,
      () => {},
      provider('before'),
    );
    mock.timers.tick(2_000);
    source = await creating;
    expect(addressOf(source)).to.equal('https://before.example/token');
    expect(source.whyMissing()).to.equal(undefined);
    attempt.resolve(provider('one'));
    await settled();
    expect(addressOf(source)).to.equal('https://one.example/token');
  });

  it('is not known until the issuer has answered, and requests fail at once', async () => {
    const learned = await learn(failing, failing, known('one'));
    expectUnknown(learned);
    await pass(1_000);
    expectUnknown(learned);
    await pass(2_000);
    expect(addressOf(learned)).to.equal('https://one.example/token');
    expect(attempts.map(({ outcome }) => outcome).join()).to.equal('failed,failed,discovered');
  });

  it('is another failure as long as the provider needs what no relay has', async () => {
    const unsupported = async () => {
      throw new DiscoveryError('unsupported');
    };
    const learned = await learn(unsupported, known('one'));
    expect(() => learned.current()).to.throw(RelayError, 'provider_unsupported');
    expect(learned.whyMissing()).to.equal('provider_unsupported');
    await pass(1_000);
    expect(learned.whyMissing()).to.equal(undefined);
  });

  it('delays the start by two seconds at most, and is used as soon as it is known', async () => {
    const { promise, resolve } = Promise.withResolvers<Provider>();
    const starting = learn(() => promise, known('two'));
    const started: unknown[] = [];
    void starting.then((learned) => started.push(learned));
    await pass(1_999);
    expect(started).to.deep.equal([]);
    await pass(1);
    const learned = await starting;
    expectUnknown(learned);
    expect(attempts).to.deep.equal([]);
    resolve(provider('one'));
    await settled();
    expect(addressOf(learned)).to.equal('https://one.example/token');
    await pass(hour);
    expect(addressOf(learned)).to.equal('https://two.example/token');
  });

  it('is requested less and less often while the issuer is down, down to once a minute', async () => {
    const waits = [1, 2, 4, 8, 16, 32, 60, 60, 60];
    await learn(failing, ...waits.map(() => failing));
    for (const [count, seconds] of waits.entries()) {
      expect(attempts.at(-1)).to.include({ outcome: 'failed', retryIn: seconds * 1000 });
      await pass(seconds * 1000 - 1);
      expect(calls).to.equal(count + 1);
      await pass(1);
      expect(calls).to.equal(count + 2);
    }
  });

  it('tells why an attempt failed, and what to do', async () => {
    await learn(failing);
    expect(attempts).to.deep.equal([
      {
        outcome: 'failed',
        reason: 'unreachable',
        explanation: 'the issuer cannot be reached',
        error: 'ECONNREFUSED',
        retryIn: 1000,
      },
    ]);
  });

  it('is discovered again once an hour, and not earlier', async () => {
    const learned = await learn(known('one'), known('two'), known('three'));
    await pass(hour - 1);
    expect(addressOf(learned)).to.equal('https://one.example/token');
    await pass(1);
    expect(addressOf(learned)).to.equal('https://two.example/token');
    await pass(hour);
    expect(addressOf(learned)).to.equal('https://three.example/token');
  });

  it('stays the same during the next discovery, so that no request waits', async () => {
    const { promise, resolve } = Promise.withResolvers<Provider>();
    const learned = await learn(known('one'), () => promise);
    await pass(hour);
    expect(calls).to.equal(2);
    expect(addressOf(learned)).to.equal('https://one.example/token');
    resolve(provider('two'));
    await settled();
    expect(addressOf(learned)).to.equal('https://two.example/token');
  });

  it('stays the same while the issuer is down, and the next attempt is after a second', async () => {
    const learned = await learn(known('one'), failing, failing, known('two'), known('three'));
    await pass(hour);
    expect(addressOf(learned)).to.equal('https://one.example/token');
    await pass(1_000);
    expect(addressOf(learned)).to.equal('https://one.example/token');
    expect(attempts.at(-1)).to.include({ outcome: 'failed', retryIn: 2000 });
    await pass(2_000);
    expect(addressOf(learned)).to.equal('https://two.example/token');
    await pass(hour - 1);
    expect(calls).to.equal(4);
  });

  it('has short pauses again after each success', async () => {
    await learn(failing, failing, failing, known('one'), failing, failing);
    for (const wait of [1_000, 2_000, 4_000, hour]) await pass(wait);
    expect(attempts.at(-1)).to.include({ outcome: 'failed', retryIn: 1000 });
  });

  it('is never requested twice at once', async () => {
    const { promise, resolve } = Promise.withResolvers<Provider>();
    await learn(known('one'), () => promise);
    await pass(hour);
    await pass(10 * hour);
    expect(calls).to.equal(2);
    resolve(provider('two'));
  });

  it('is not discovered again after it is closed', async () => {
    const learned = await learn(known('one'));
    learned.close();
    await pass(10 * hour);
    expect(calls).to.equal(1);
  });

  it('is not discovered again if it is closed during an attempt', async () => {
    const { promise, resolve } = Promise.withResolvers<Provider>();
    const learned = await learn(known('one'), () => promise);
    await pass(hour);
    learned.close();
    resolve(provider('two'));
    await settled();
    await pass(10 * hour);
    expect(calls).to.equal(2);
  });

  describe('and something computed from it', () => {
    it('is computed once for each discovery', async () => {
      const learned = await learn(known('one'), failing, known('two'));
      let computed = 0;
      const derived = cacheByProvider(learned, ({ tokenUrl }) => {
        computed += 1;
        return tokenUrl;
      });
      expect([derived(), derived()]).to.deep.equal(Array(2).fill('https://one.example/token'));
      await pass(hour);
      expect(derived()).to.equal('https://one.example/token');
      expect(computed).to.equal(1);
      await pass(1_000);
      expect([derived(), derived()]).to.deep.equal(Array(2).fill('https://two.example/token'));
      expect(computed).to.equal(2);
    });

    it('is not known until the issuer has answered', async () => {
      const derived = cacheByProvider(await learn(failing), ({ tokenUrl }) => tokenUrl);
      expect(derived).to.throw(RelayError, 'provider_undiscovered');
    });
  });
});

function provider(name: string): Provider {
  const origin = `https://${name}.example`;
  return {
    authorizeUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    userUrl: `${origin}/user`,
    tokenRequest: 'basic',
    pkce: true,
  };
}

/** Waits until the callbacks of all resolved promises have run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
