import { expect } from 'chai';
import { loginPath, startRelay } from '../harness/relay/relay-under-test.ts';

describe('the debug output of libraries', () => {
  it('stays off even if the environment turns all of it on', async () => {
    const underTest = await startRelay({}, {}, { env: { DEBUG: '*' } });
    expect((await underTest.get(`${loginPath}?state=a`)).status).to.equal(307);
    // The relay fails the test if it writes to standard error.
    await underTest.stop();
  });
});
