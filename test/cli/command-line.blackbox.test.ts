import { expect } from 'chai';
import { expectUser } from '../harness/expect/expectations.ts';
import { silence } from '../harness/provider/provider-behaviours.ts';
import { userRecord } from '../harness/provider/strict-provider.ts';
import { startRelay } from '../harness/relay/relay-under-test.ts';

describe('the command line', () => {
  it('finishes a request in flight before it ends, accepts no further request, and says after Ctrl-C that it waits', async () => {
    const underTest = await startRelay();
    const { provider } = underTest;
    let proceed = () => {};
    provider.onUser = (response, call) => {
      proceed = () => userRecord(response, call);
    };
    const lookup = underTest.lookUp();
    await provider.arrivals(1);
    const ending = underTest.process.stop('SIGINT');
    const stopping = await underTest.process.logLine(({ msg }) => msg === 'stopping');
    expect(stopping['requestsInFlight']).to.equal(1);
    const refused = await underTest.get('/healthz').catch(({ code }) => code);
    // The connection is reset if it was opened just before the port closed.
    expect(refused).to.be.oneOf(['ECONNREFUSED', 'ECONNRESET']);
    proceed();
    const answered = await lookup;
    expectUser(answered);
    expect(answered.headers.connection).to.equal('close');
    const { code, stderr } = await ending;
    expect(code).to.equal(0);
    expect(stderr).to.equal(
      'Stopping: waiting for 1 request in flight, 30 seconds at most.\nPress Ctrl-C again to end at once.\n',
    );
    await provider.stop();
  });

  it('ends at once on a second signal', async () => {
    const underTest = await startRelay();
    const { provider } = underTest;
    provider.onUser = silence;
    const lookup = underTest.lookUp().catch(() => undefined);
    await provider.arrivals(1);
    const ending = underTest.process.stop('SIGTERM');
    await underTest.process.logLine(({ msg }) => msg === 'stopping');
    await underTest.process.stop('SIGTERM');
    expect((await ending).signal).to.equal('SIGTERM');
    await lookup;
    await provider.stop();
  });
});
