import { expect } from 'chai';
import { keepAliveAgent } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectError, expectUser } from '../../harness/expect/expectations.ts';
import { hangUp, reset, truncated } from '../../harness/provider/provider-behaviours.ts';
import { type Behaviour, userRecord } from '../../harness/provider/strict-provider.ts';
import { relayUnderTest, userPath } from '../../harness/relay/relay-under-test.ts';

describe('many clients at once', () => {
  const underTest = relayUnderTest();

  it('never get the record of another user, even if connections break', async function () {
    this.timeout(60_000);
    const { provider } = underTest();
    const tokens = Array.from({ length: 50 }, () => canary('token'));
    const breaks: Behaviour[] = [
      reset,
      hangUp,
      truncated(200, '{"login":"nobody"'),
      (response) => response.socket?.write('HTTP/1.1 200 O', () => response.socket?.destroy()),
    ];
    let arrived = 0;
    // Answers have another order than the calls, and a tenth of the connections break.
    const waiting: (() => void)[] = [];
    provider.onUser = (response, call) => {
      arrived += 1;
      const number = arrived;
      const fault = breaks[Math.floor(number / 10) % breaks.length] ?? reset;
      waiting.push(() => (number % 10 === 0 ? fault : userRecord)(response, call));
      setImmediate(() => waiting.pop()?.());
    };

    const agent = keepAliveAgent(100);
    let served = 0;
    let failed = 0;
    await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => {
        const token = tokens[index % tokens.length];
        const answered = await underTest().send({
          path: userPath,
          headers: [['Authorization', `Bearer ${token}`]],
          agent,
        });
        if (answered.status === 200) {
          expect(expectUser(answered)).to.include({ login: `owner-of-${token}` });
          served += 1;
        } else {
          expectError(answered, 502);
          failed += 1;
        }
      }),
    );
    agent.destroy();
    expect(served).to.be.at.least(850);
    expect(failed).to.be.at.least(10);
    expect(served + failed).to.equal(1000);
    expect(new Set(provider.credentials('user'))).to.deep.equal(new Set(tokens));
  });

  it('never get an answer that was sent before their request', async () => {
    const { provider, process: relay } = underTest();
    const forged = '{"login":"forged"}';
    const unasked =
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${forged.length}\r\n\r\n${forged}`;
    const agent = keepAliveAgent(1);
    const lookUp = (token: string) =>
      underTest().send({ path: userPath, headers: [['Authorization', `Bearer ${token}`]], agent });
    await lookUp(canary('token'));
    for (let time = 0; time < 5; time += 1) {
      expect(provider.openSockets).not.to.deep.equal([]);
      // The relay finds both at once when it continues, the request first.
      process.kill(relay.pid, 'SIGSTOP');
      const token = canary('token');
      const answered = lookUp(token);
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all(
        provider.openSockets.map(
          (socket) => new Promise((resolve) => socket.write(unasked, resolve)),
        ),
      );
      process.kill(relay.pid, 'SIGCONT');
      expect(expectUser(await answered)).to.include({ login: `owner-of-${token}` });
    }
    agent.destroy();
  });
});
