import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { RelayError } from '../../../src/failures/relay-error.ts';
import { expectLogin, FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { expectError, expectUser } from '../../harness/expect/expectations.ts';
import { userRecord } from '../../harness/provider/strict-provider.ts';
import { secretFile, withRelay } from '../../harness/relay/relay-under-test.ts';
import { fault } from '../../harness/system/fault.ts';

const preload = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`;

describe('a clock that jumps', () => {
  before('libfaketime is there', () => {
    if (!existsSync(preload)) throw new Error(`no ${preload}: install libfaketime`);
  });

  for (const { jump, offset, failure } of [
    { jump: '90 s ahead', offset: '+90s', failure: undefined },
    { jump: '90 s back', offset: '-90s', failure: 'state_premature' },
    { jump: 'a day ahead', offset: '+1d', failure: 'state_expired' },
    { jump: 'a day back', offset: '-1d', failure: 'state_premature' },
  ] as const) {
    const outcome = failure === undefined ? 'goes on' : `is refused (${failure})`;
    fault(
      `the clock jumps ${jump} during a login and a lookup`,
      `the login ${outcome}, the lookup is answered, a new login goes well`,
      async () => {
        const file = await secretFile('+0s');
        const env = {
          LD_PRELOAD: preload,
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        };
        await withRelay({ env }, async (underTest) => {
          const { provider } = underTest;
          const browser = new FakeBrowser(() => underTest);
          const login = await browser.start();
          const { promise: released, resolve: release } = Promise.withResolvers<void>();
          provider.onUser = (...call) => void released.then(() => userRecord(...call));
          const lookup = underTest.lookUp();
          await provider.arrivals(1);

          await writeFile(file, offset);
          const answered = await browser.finish(login);
          if (failure === undefined) expectLogin(underTest, answered, login);
          else {
            const { status, detail } = new RelayError(failure);
            expect(expectError(answered, status)).to.equal(detail);
          }
          release();
          expectUser(await lookup);
          const another = await browser.start();
          expectLogin(underTest, await browser.finish(another), another);
          expect((await underTest.process.stop()).code).to.equal(0);
        });
      },
    );
  }
});
