import { expect } from 'chai';
import { type AwaitedProvider, createReadiness } from '../../src/routes/health.ts';

/** A provider that is known, unless its test says otherwise. */
function providerOf(name: string) {
  const provider = { name, reason: undefined as ReturnType<AwaitedProvider['whyMissing']> };
  return Object.assign(provider, { whyMissing: () => provider.reason });
}

describe('readiness', () => {
  it('lists as reasons that the relay stops, or has no provider', () => {
    const provider = providerOf('provider');
    provider.reason = 'provider_undiscovered';
    const readiness = createReadiness([provider]);
    expect(readiness.reasons()).to.deep.equal(['provider_undiscovered']);
    readiness.stopping = true;
    expect(readiness.reasons()).to.deep.equal(['stopping', 'provider_undiscovered']);
    provider.reason = 'provider_unsupported';
    expect(readiness.reasons()).to.deep.equal(['stopping', 'provider_unsupported']);
    provider.reason = undefined;
    expect(readiness.reasons()).to.deep.equal(['stopping']);
    readiness.stopping = false;
    expect(readiness.reasons()).to.deep.equal([]);
  });

  it('waits for all providers if the policy is all, and names the missing providers', () => {
    const github = providerOf('github');
    const staff = providerOf('staff');
    const readiness = createReadiness([github, staff], 'all');
    staff.reason = 'provider_undiscovered';
    expect(readiness.reasons()).to.deep.equal(['provider_undiscovered (staff)']);
    expect(readiness.unavailable()).to.deep.equal(['staff']);
    staff.reason = undefined;
    expect(readiness.reasons()).to.deep.equal([]);
  });

  it('needs only one provider by default, and still names the missing providers', () => {
    const github = providerOf('github');
    const staff = providerOf('staff');
    const readiness = createReadiness([github, staff]);
    staff.reason = 'provider_undiscovered';
    expect(readiness.reasons()).to.deep.equal([]);
    expect(readiness.unavailable()).to.deep.equal(['staff']);
    github.reason = 'provider_unsupported';
    expect(readiness.reasons()).to.deep.equal(['provider_unsupported (github)', 'provider_undiscovered (staff)']);
  });
});
