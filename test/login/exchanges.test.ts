import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createExchanges, type Exchanges } from '../../src/login/exchanges.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';

const token: TokenResponse = {
  accessToken: 'token',
  tokenType: 'bearer',
  expiresIn: undefined,
  refreshToken: undefined,
  refreshExpiresIn: undefined,
  scope: undefined,
};

describe('the exchange of a login', () => {
  let time: number;
  let exchanges: Exchanges;
  let started: number;
  beforeEach(() => {
    time = 1_800_000_000_000;
    exchanges = createExchanges({ now: () => time });
    started = 0;
  });

  function exchange(login: string, result = Promise.resolve(token)) {
    return exchanges.exchangeOnce(login, (spend) => {
      spend();
      started += 1;
      return result;
    });
  }

  it('is shared by all callbacks that come while it is in flight, and all get its token', async () => {
    const { promise, resolve } = Promise.withResolvers<TokenResponse>();
    const results = [exchange('a', promise), exchange('a'), exchange('a')];
    const shared = { ...token };
    resolve(shared);
    for (const result of results) expect(await result).to.equal(shared);
    expect(started).to.equal(1);
  });

  it('is shared by all callbacks if it fails', async () => {
    const failed = Promise.reject(new RelayError('code_refused'));
    const results = [exchange('a', failed), exchange('a')];
    expect(await Promise.all(results.map(outcomeOf))).to.deep.equal(Array(2).fill('code_refused'));
    expect(started).to.equal(1);
  });

  for (const [end, result] of [
    ['succeeded', () => Promise.resolve(token)],
    ['failed', () => Promise.reject(new RelayError('provider_timeout'))],
  ] as const) {
    it(`is not started again once it has ${end}, for ten minutes`, async () => {
      await exchange('a', result()).catch(() => {});
      expect(exchanges.hasBegun('a')).to.equal(true);
      expect(await outcomeOf(exchange('a'))).to.equal('state_finished');
      time += 599_999;
      await exchange('b');
      expect(await outcomeOf(exchange('a'))).to.equal('state_finished');
      expect(started).to.equal(2);
    });
  }

  it('is forgotten if it fails before the code is sent, so that it can be retried', async () => {
    const { promise, reject } = Promise.withResolvers<TokenResponse>();
    const results = [exchanges.exchangeOnce('a', () => promise), exchange('a')];
    reject(new RelayError('rate_limited'));
    expect(await Promise.all(results.map(outcomeOf))).to.deep.equal(Array(2).fill('rate_limited'));
    expect(exchanges.hasBegun('a')).to.equal(false);
    expect(await exchange('a')).to.equal(token);
  });

  it('is forgotten after eleven minutes, when the state of the login has expired on any replica', async () => {
    await exchange('a');
    time += 659_999;
    await exchange('b');
    expect(exchanges.hasBegun('a')).to.equal(true);
    time += 1;

    await exchange('c');
    expect(exchanges.hasBegun('a')).to.equal(false);
    expect(exchanges.hasBegun('b')).to.equal(true);
  });

  it('is remembered among the newest 16,384; the oldest is forgotten', async () => {
    const { promise, resolve } = Promise.withResolvers<TokenResponse>();
    const inFlight = exchange('in flight', promise);
    for (let login = 0; login < 16_384; login += 1) await exchange(`${login}`);
    expect(exchanges.hasBegun('in flight')).to.equal(false);
    expect(exchanges.hasBegun('0')).to.equal(true);
    await exchange('one more');
    expect(exchanges.hasBegun('0')).to.equal(false);
    expect(exchanges.hasBegun('1')).to.equal(true);
    resolve(token);
    expect(await inFlight).to.equal(token);
  });
});
