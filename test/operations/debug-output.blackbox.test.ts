import { expect } from 'chai';
import { loginPath, startRelay } from '../harness/relay/relay-under-test.ts';

describe('the debug output of libraries', () => {
  it('stays off, even where the environment asks for all of it', async () => {
    const underTest = await startRelay({}, {}, { env: { DEBUG: '*' } });
    expect((await underTest.get(`${loginPath}?state=a`)).status).to.equal(307);
    // It fails if there is anything on standard error.
    await underTest.stop();
  });
});
