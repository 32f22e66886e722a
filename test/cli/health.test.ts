import { expect } from 'chai';
import { serve } from '../harness/provider/serve.ts';
import { type Invocation, runRelay } from '../harness/relay/relay-process.ts';
import { listening, secretFile } from '../harness/relay/relay-under-test.ts';
import { freePort } from '../harness/system/free-port.ts';

const twoProviders = (port: number, policy = 'any') => `port: ${port}
ready-policy: ${policy}
base-url: https://relay.example
providers:
  github: { client-id: a, client-secret: s1 }
  staff: { issuer: 'http://127.0.0.1:1', client-id: b, client-secret: s2 }
front-ends:
  app: { origin: https://app.example }
`;

async function answerOf(invocation: Invocation) {
  const { code, stdout } = await runRelay({ ...invocation, words: ['health'] });
  return { code, stdout };
}

describe('login-relay health', () => {
  it('finds the port in the configuration file, and prints which provider the relay waits for', async () => {
    const port = await freePort();
    const config = await secretFile(twoProviders(port, 'all'));
    const { relay } = await listening({ flags: { config } });
    const at = `http://127.0.0.1:${port}`;
    const answer = { code: 1, stdout: `not ready (503) at ${at}: provider_undiscovered (staff)\n` };
    expect(await answerOf({ flags: { config } })).to.deep.equal(answer);
    expect(await answerOf({ env: { LOGIN_RELAY_CONFIG: config } })).to.deep.equal(answer);
    await relay.stop();
  });

  it('says at which providers a relay that is ready starts no logins', async () => {
    const port = await freePort();
    const config = await secretFile(twoProviders(port));
    const { relay } = await listening({ flags: { config } });
    const answer = await answerOf({ flags: { config } });
    const stdout = `ready at http://127.0.0.1:${port}, except: staff\n`;
    expect(answer).to.deep.equal({ code: 0, stdout });
    await relay.stop();
  });

  it('says that the shared memory of a ready relay does not answer', async () => {
    const body = '{"status":"ready","memory":"away"}';
    const relay = await serve((_request, response) => response.end(body));
    const answer = await answerOf({ flags: { port: `${relay.port}` } });
    const stdout = `ready at http://127.0.0.1:${relay.port}; the shared memory is away\n`;
    expect(answer).to.deep.equal({ code: 0, stdout });
    await relay.close();
  });

  it('prints nothing that another program answers', async () => {
    const bodies = ['<h1>away</h1>', '{"detail":"Not ready: \\u001b[2J."}', 'x'.repeat(99_999)];
    for (const body of bodies) {
      const other = await serve((_request, response) => response.writeHead(503).end(body));
      const answer = await answerOf({ flags: { port: `${other.port}` } });
      const stdout = `not ready (503) at http://127.0.0.1:${other.port}\n`;
      expect(answer).to.deep.equal({ code: 1, stdout });
      await other.close();
    }
  });

  it('reports the faults of a configuration file', async () => {
    const config = await secretFile('port: [1, 2]');
    const { code, stderr } = await runRelay({ words: ['health'], flags: { config } });
    expect(code).to.equal(2);
    expect(stderr).to.contain(`${config}:1:1 port must be one value, not a list`);
  });
});
