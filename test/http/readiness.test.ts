import { expect } from 'chai';
import { createReadiness } from '../../src/http/readiness.ts';

describe('readiness', () => {
  it('lists as reasons that the relay stops, or has no provider', () => {
    let missing: 'provider_undiscovered' | 'provider_unsupported' | undefined =
      'provider_undiscovered';
    const readiness = createReadiness(() => missing);
    expect(readiness.reasons()).to.deep.equal(['provider_undiscovered']);
    readiness.stopping = true;
    expect(readiness.reasons()).to.deep.equal(['stopping', 'provider_undiscovered']);
    missing = 'provider_unsupported';
    expect(readiness.reasons()).to.deep.equal(['stopping', 'provider_unsupported']);
    missing = undefined;
    expect(readiness.reasons()).to.deep.equal(['stopping']);
    readiness.stopping = false;
    expect(readiness.reasons()).to.deep.equal([]);
  });
});
