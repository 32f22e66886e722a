import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { bundleClient } from '../../scripts/client-bundle.ts';

const built = readFileSync(new URL('../../client/client.js', import.meta.url));

describe('client/client.js', () => {
  it('is the build of client/src (make client)', async () => {
    expect(built.toString()).to.equal(await bundleClient());
  });

  it('has 3.6 kB at most, compressed', () => {
    expect(gzipSync(built, { level: 9 }).length).to.be.at.most(3600);
  });
});
