import { expect } from 'chai';
import { createReadiness } from '../../src/http/readiness.ts';

describe('readiness', () => {
  it('is given unless the relay stops or does not know its provider, and says which', () => {
    let known = false;
    const readiness = createReadiness(() => known);
    expect(readiness.reasons()).to.deep.equal(['provider_undiscovered']);
    readiness.stopping = true;
    expect(readiness.reasons()).to.deep.equal(['stopping', 'provider_undiscovered']);
    known = true;
    expect(readiness.reasons()).to.deep.equal(['stopping']);
    readiness.stopping = false;
    expect(readiness.reasons()).to.deep.equal([]);
  });
});
