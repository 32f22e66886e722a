import { expect } from 'chai';
import { canary } from '../../harness/expect/canaries.ts';
import { expectError, expectToken } from '../../harness/expect/expectations.ts';
import type { Behaviour } from '../../harness/provider/strict-provider.ts';
import { relayUnderTest } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { fault } from '../../harness/system/fault.ts';

describe('a connection that ends within the token answer', () => {
  const underTest = relayUnderTest();

  const endings: Readonly<Record<string, (whole: string, at: number) => Behaviour>> = {
    closed: (whole, at) => (response) => {
      response.socket?.end(whole.slice(0, at));
    },
    reset: (whole, at) => (response) => {
      const { socket } = response;
      // A reset can overtake earlier bytes. So wait until the relay has read them.
      socket?.write(whole.slice(0, at), () => setTimeout(() => socket.resetAndDestroy(), 2));
    },
  };
  for (const [name, endingAt] of Object.entries(endings)) {
    fault(
      `the connection is ${name} after each byte of the token answer`,
      'no token before the last byte, the code is sent once, the next login goes well',
      async ({ happened }, context) => {
        context.timeout(60_000);
        const { provider } = underTest();
        const token = canary('token');
        const body = JSON.stringify({ access_token: token, token_type: 'bearer' });
        const whole = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
        for (let at = 0; at < whole.length; at += 1) {
          const code = canary('code');
          provider.forget();
          provider.onToken = endingAt(whole, at);
          // Use a new connection: a call on a closed keep-alive connection would be retried.
          for (const socket of provider.openSockets) socket.destroy();
          expectError(await underTest().logIn(code), 502);
          expect(provider.credentials('token'), `after ${at} bytes`).to.deep.equal([code]);
        }
        provider.onToken = endingAt(whole, whole.length);
        expect(expectToken(await underTest().logIn())).to.equal(token);
        // A request that is read just before the reset would be retried.
        await eventually(async () => expect(provider.openSockets).to.deep.equal([]));
        provider.forget();
        expectToken(await underTest().logIn());
        happened(`${whole.length} times 502, then a token`);
      },
    );
  }
});
