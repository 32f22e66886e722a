import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import { createRedeemedCodes } from '../../src/grants/codes.ts';
import { keyOf } from '../../src/recent.ts';
import { codeOf } from '../harness/expect/failure-code.ts';

describe('the redemption of a code', () => {
  let time: number;
  let codes: ReturnType<typeof createRedeemedCodes>;
  let exchanged: number;
  beforeEach(() => {
    time = 1_800_000_000_000;
    codes = createRedeemedCodes({ now: () => time });
    exchanged = 0;
  });

  /** @param isSent whether the code reached the provider */
  function redeem(
    providerCode: string,
    result: Promise<string> = Promise.resolve('token'),
    { isSent = true, registration = 'provider' } = {},
  ): Promise<string> {
    return codes
      .run(keyOf(registration, providerCode), (sent) => {
        exchanged += 1;
        if (isSent) sent();
        return result;
      })
      .catch(codeOf);
  }

  function failure(): Promise<never> {
    return Promise.reject(new RelayError('provider_unreachable'));
  }

  it('exchanges the provider’s code once', async () => {
    expect(await redeem('a')).to.equal('token');
    expect(await redeem('a')).to.equal('code_redeemed');
    expect(exchanged).to.equal(1);
  });

  it('is refused while the first one is in flight, and does not affect it', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = redeem('a', promise, { isSent: false });
    expect(await redeem('a')).to.equal('code_redeemed');
    resolve('token');
    expect(await first).to.equal('token');
    expect(exchanged).to.equal(1);
  });

  it('is over even if the exchange does not say that the code was sent', async () => {
    expect(await redeem('a', undefined, { isSent: false })).to.equal('token');
    expect(await redeem('a')).to.equal('code_redeemed');
  });

  it('is refused after a failure that may have spent the code', async () => {
    expect(await redeem('a', failure())).to.equal('provider_unreachable');
    expect(await redeem('a')).to.equal('code_redeemed');
    expect(exchanged).to.equal(1);
  });

  it('can be retried if the code never reached the provider', async () => {
    expect(await redeem('a', failure(), { isSent: false })).to.equal('provider_unreachable');
    expect(await redeem('a')).to.equal('token');
    expect(await redeem('a')).to.equal('code_redeemed');
  });

  it('can be retried after an error that is thrown at once', async () => {
    const broken = codes.run(keyOf('provider', 'a'), () => {
      throw new RelayError('overloaded');
    });
    expect(await broken.catch((error: RelayError) => error.code)).to.equal('overloaded');
    expect(await redeem('a')).to.equal('token');
  });

  it('is separate for each code and each registration', async () => {
    expect(await redeem('a')).to.equal('token');
    expect(await redeem('b')).to.equal('token');
    expect(await redeem('a', undefined, { registration: 'another' })).to.equal('token');
  });

  it('is remembered for longer than the code is valid at any replica', async () => {
    await redeem('a');
    time += 120_999;
    expect(await redeem('a')).to.equal('code_redeemed');
    time += 10_000;
    expect(await redeem('a')).to.equal('token');
  });

  it('is remembered among the newest 16,384; the oldest is forgotten', async () => {
    for (let code = 0; code < 16_384; code += 1) await redeem(`${code}`);
    expect(await redeem('0')).to.equal('code_redeemed');
    await redeem('one more');
    expect(await redeem('1')).to.equal('code_redeemed');
    expect(await redeem('0')).to.equal('token');
  });
});
