import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createRedemptions, type Redemption } from '../../src/grants/redemptions.ts';
import type { Home } from '../../src/memory/home.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';
import { codeOf } from '../harness/expect/failure-code.ts';
import { eventually } from '../harness/system/eventually.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { sharedHome } from '../harness/system/shared-home.ts';

const minute = 60_000;
const nothing = { tokenType: undefined, refreshToken: undefined, refreshExpiresIn: undefined, scope: undefined };
const response: TokenResponse = { ...nothing, accessToken: 'token', expiresIn: 3600 };
const failure = () => Promise.reject(new RelayError('provider_unreachable'));

/** A relay that redeems codes. */
function redeemer(home: Home) {
  const redemptions = createRedemptions(home);
  const seen = { exchanged: 0, revoked: [] as string[] };
  return {
    seen,
    /** @param how.isSent whether the code reached the provider @param how.isUsable whether the front end gets the answer */
    redeem(
      key: string,
      {
        binding = 'login',
        client = 'client',
        left = minute,
        result = async () => response,
        isSent = true,
        isUsable = true,
      }: Partial<Redemption> & { result?: () => Promise<TokenResponse>; isSent?: boolean; isUsable?: boolean } = {},
    ): Promise<string> {
      const revoke = ({ accessToken }: TokenResponse) => void seen.revoked.push(accessToken);
      return redemptions
        .redeem(
          { key, binding, client, left, revoke },
          async (find, spend) => {
            const kept = await find();
            if (kept !== undefined) return kept;
            seen.exchanged += 1;
            if (isSent) spend();
            return { response: await result(), at: home.now() };
          },
          async ({ accessToken, expiresIn }, giveBack) => {
            if (isUsable) return `${accessToken} ${expiresIn}`;
            await giveBack();
            throw new RelayError('identity_unchecked');
          },
        )
        .catch(codeOf);
    },
  };
}

describe('the redemption of a code', () => {
  let time: number;
  let relay: ReturnType<typeof redeemer>;
  beforeEach(() => {
    time = 1_800_000_000_000;
    relay = redeemer({ now: () => time });
  });

  it('is refused while the first redemption is in flight, and does not affect it', async () => {
    const { promise, resolve } = Promise.withResolvers<TokenResponse>();
    const first = relay.redeem('a', { result: () => promise, isSent: false });
    expect(await relay.redeem('a')).to.equal('code_redeemed');
    resolve(response);
    expect(await first).to.equal('token 3600');
    expect(relay.seen.exchanged).to.equal(1);
  });

  it('is over even if the exchange does not say that the code was sent', async () => {
    expect(await relay.redeem('a', { isSent: false })).to.equal('token 3600');
    expect(await relay.redeem('a')).to.equal('code_redeemed');
  });

  it('is refused after a failure that may have spent the code', async () => {
    expect(await relay.redeem('a', { result: failure })).to.equal('provider_unreachable');
    expect(await relay.redeem('a')).to.equal('code_redeemed');
    expect(relay.seen.exchanged).to.equal(1);
  });

  it('can be retried if the code never reached the provider', async () => {
    expect(await relay.redeem('a', { result: failure, isSent: false })).to.equal('provider_unreachable');
    expect(await relay.redeem('a')).to.equal('token 3600');
    expect(await relay.redeem('a')).to.equal('code_redeemed');
  });

  it('is separate for each code', async () => {
    expect(await relay.redeem('a')).to.equal('token 3600');
    expect(await relay.redeem('b')).to.equal('token 3600');
  });

  it('is remembered for longer than the code of a program is valid at any replica', async () => {
    await relay.redeem('a');
    time += 360_999;
    expect(await relay.redeem('a')).to.equal('code_redeemed');
    time += 10_000;
    expect(await relay.redeem('a')).to.equal('token 3600');
  });

  describe('whose answer the front end did not get', () => {
    beforeEach(async () => {
      expect(await relay.redeem('a', { isUsable: false })).to.equal('identity_unchecked');
    });

    it('gives it later, once, with the lifetimes that are left, and exchanges nothing again', async () => {
      time += 10_000;
      expect(await relay.redeem('a', { isUsable: false })).to.equal('identity_unchecked');
      time += 10_000;
      expect(await relay.redeem('a')).to.equal('token 3580');
      expect(await relay.redeem('a')).to.equal('code_redeemed');
      expect(relay.seen).to.deep.equal({ exchanged: 1, revoked: [] });
    });

    it('does not give the answer to another client or key, and keeps it for the right client', async () => {
      expect(await relay.redeem('a', { binding: 'another login' })).to.equal('code_redeemed');
      expect(await relay.redeem('a')).to.equal('token 3600');
      expect(relay.seen.exchanged).to.equal(1);
    });

    it('gives the answer to only one of two requests at the same time', async () => {
      const both = await Promise.all([relay.redeem('a'), relay.redeem('a')]);
      expect(both.sort()).to.deep.equal(['code_redeemed', 'token 3600']);
    });

    it('stays for a client with few entries, while another client has more than the memory holds', async () => {
      for (let index = 0; index < 4096; index += 1) {
        await relay.redeem(`${index}`, { isUsable: false, client: 'another client' });
      }
      expect(relay.seen.revoked).to.deep.equal(['token']);
      expect(await relay.redeem('0', { client: 'another client' })).to.equal('code_redeemed');
      expect(await relay.redeem('a')).to.equal('token 3600');
    });

    it('revokes what makes room for others, and never exchanges that code again', async () => {
      for (let index = 0; index < 4096; index += 1) await relay.redeem(`${index}`, { isUsable: false });
      expect(relay.seen.revoked).to.deep.equal(['token']);
      expect(await relay.redeem('a')).to.equal('code_redeemed');
    });
  });

  it('revokes an answer that nobody has fetched when the code expires', async () => {
    expect(await relay.redeem('a', { isUsable: false, left: 20 })).to.equal('identity_unchecked');
    await eventually(async () => expect(relay.seen.revoked).to.deep.equal(['token']));
    expect(await relay.redeem('a')).to.equal('code_redeemed');
  });

  it('revokes nothing that was fetched', async () => {
    await relay.redeem('a', { isUsable: false, left: 1000 });
    expect(await relay.redeem('a')).to.equal('token 3600');
    await relay.redeem('b', { isUsable: false, left: 1000 });
    await eventually(async () => expect(relay.seen.revoked).to.have.lengthOf(1));
    expect(relay.seen.revoked).to.deep.equal(['token']);
  });
});

describe('the redemption of a code at relays that share a memory', () => {
  let server: MemoryServerHere;
  let first: ReturnType<typeof redeemer>;
  let second: ReturnType<typeof redeemer>;
  const homes: Awaited<ReturnType<typeof sharedHome>>[] = [];
  beforeEach(async () => {
    server = await MemoryServerHere.start();
    const keys = [randomBytes(32)] as const;
    homes.push(await sharedHome(server.address, keys), await sharedHome(server.address, keys));
    const [one, other] = homes.map(redeemer);
    if (one === undefined || other === undefined) throw new Error('no relays');
    first = one;
    second = other;
  });
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.close();
    await server.stop();
  });

  it('gives an answer that the other relay has kept, once, and neither relay revokes it', async () => {
    await first.redeem('a', { isUsable: false, left: 1500 });
    expect([...server.values.values()].map(({ text }) => text).join()).not.to.include('token');
    expect(await second.redeem('a', { binding: 'another login' })).to.equal('code_redeemed');
    expect(await second.redeem('a')).to.equal('token 3600');
    expect(await first.redeem('a')).to.equal('code_redeemed');
    await new Promise((resolve) => setTimeout(resolve, 1600));
    expect([first.seen, second.seen]).to.deep.equal([
      { exchanged: 1, revoked: [] },
      { exchanged: 0, revoked: [] },
    ]);
  });

  it('gives the answer after another attempt has reached the other relay', async () => {
    const { promise, resolve } = Promise.withResolvers<TokenResponse>();
    const slow = first.redeem('a', { result: () => promise, isUsable: false });
    await eventually(async () => expect(first.seen.exchanged).to.equal(1));
    expect(await second.redeem('a')).to.equal('code_redeemed');
    resolve(response);
    expect(await slow).to.equal('identity_unchecked');
    expect(await second.redeem('a')).to.equal('token 3600');
  });

  it('revokes tokens that nobody has fetched, once', async () => {
    await first.redeem('a', { isUsable: false, left: 50 });
    await second.redeem('a', { isUsable: false, left: 50 });
    await eventually(async () => expect([...first.seen.revoked, ...second.seen.revoked]).to.deep.equal(['token']));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([...first.seen.revoked, ...second.seen.revoked]).to.deep.equal(['token']);
  });
});
