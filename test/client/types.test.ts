import { expect } from 'chai';
import type * as declared from '../../client/client.js';
import * as source from '../../client/src/index.ts';

describe('client/client.d.ts', () => {
  it('declares what the module exports', () => {
    // The compiler compares the types.
    const module: typeof declared = source;
    expect(Object.keys(module).sort()).to.deep.equal(['LoginError', 'createLogin']);
  });
});
