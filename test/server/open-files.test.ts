import { expect } from 'chai';
import { connectionsThatFit, mostOpenFiles } from '../../src/server/open-files.ts';

describe('connections, where few files may be open', () => {
  it('leave files for calls and for everything else', () => {
    expect(connectionsThatFit(1024, false)).to.equal(640);
    expect(connectionsThatFit(1024, true)).to.equal(448);
    expect(connectionsThatFit(65_536, true)).to.equal(65_536 - 128 - 256 - 1024);
  });

  it('are at least a few', () => {
    for (const files of [0, 64, 128, 150]) expect(connectionsThatFit(files, true)).to.equal(16);
  });

  it('are not fewer where the system does not say how many files may be open', () => {
    const files = mostOpenFiles();
    if (process.platform === 'linux') expect(files).to.be.at.least(64);
    else expect(files).to.equal(undefined);
  });
});
