import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createRevocations } from '../../src/grants/grants.ts';

describe('the revocation of a login', () => {
  const tokens = { refreshToken: 'refresh', accessToken: 'access' };
  let time: number;
  let calls: number;
  let revocations: ReturnType<typeof createRevocations>;
  beforeEach(() => {
    time = 1_800_000_000_000;
    calls = 0;
    revocations = createRevocations({ now: () => time });
  });

  const revoke = async () => {
    calls += 1;
  };

  it('makes one call in a minute, however often a page repeats the request', async () => {
    await Promise.all(Array.from({ length: 20 }, () => revocations.revokeOnce(tokens, revoke)));
    time += 59_999;
    await revocations.revokeOnce(tokens, revoke);
    expect(calls).to.equal(1);
    time += 1;
    await revocations.revokeOnce(tokens, revoke);
    expect(calls).to.equal(2);
  });

  it('is a separate call for other tokens', async () => {
    await revocations.revokeOnce(tokens, revoke);
    await revocations.revokeOnce({ refreshToken: 'refresh' }, revoke);
    await revocations.revokeOnce({ accessToken: 'refresh' }, revoke);
    expect(calls).to.equal(3);
  });

  it('gives a failure to all who wait for it, and is tried again after it', async () => {
    const fail = () => Promise.reject(new RelayError('provider_timeout'));
    const failing = [fail, revoke].map((one) => revocations.revokeOnce(tokens, one));
    for (const result of await Promise.allSettled(failing)) {
      expect(result).to.have.nested.property('reason.code', 'provider_timeout');
    }
    await revocations.revokeOnce(tokens, revoke);
    expect(calls).to.equal(1);
  });
});
