import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { canary } from '../harness/expect/canaries.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { type Flags, RelayProcess } from '../harness/relay/relay-process.ts';
import { callbackPath, flagsFor, registration, secretFile, userPath } from '../harness/relay/relay-under-test.ts';
import { eventually } from '../harness/system/eventually.ts';
import { needsPrograms } from '../harness/system/needs.ts';

const unixUntrusted = /^--trusted-proxies \(TRUSTED_PROXIES\) does not list unix/;

interface Running {
  readonly relay: RelayProcess;
  readonly provider: StrictProvider;
  /** The status that a client with this address gets through a proxy on the socket. */
  ask(path: string, client: string): Promise<number>;
}

/** A relay that listens on a Unix socket, behind a proxy. */
async function withRelay(flags: Flags, act: (running: Running) => Promise<void>): Promise<void> {
  const provider = await StrictProvider.start(registration());
  const folder = await mkdtemp(join(tmpdir(), 'login-relay-'));
  const socketPath = join(folder, 'socket');
  async function ask(path: string, client: string): Promise<number> {
    const headers = { 'X-Forwarded-For': client, Authorization: `Bearer ${canary('token')}` };
    const sent = request({ socketPath, path, headers, agent: false }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    return response.statusCode;
  }
  try {
    const file = await secretFile(provider.registration.clientSecret);
    const relay = new RelayProcess({
      launcher: ['systemd-socket-activate', '--listen', socketPath],
      flags: { ...flagsFor(provider, file), ...flags },
    });
    await eventually(() => ask('/healthz', '192.0.2.9'));
    await act({ relay, provider, ask });
    await relay.stop('SIGKILL');
  } finally {
    await provider.stop();
    await rm(folder, { recursive: true });
  }
}

const { describe } = needsPrograms('systemd-socket-activate');

describe('a relay on a Unix socket', () => {
  it('counts each client separately if it trusts proxies on the socket', async () => {
    await withRelay({ 'rate-limit': '2', 'trusted-proxies': 'unix' }, async ({ relay, ask }) => {
      const three = async (client: string) => {
        const one = () => ask(userPath, client);
        return [await one(), await one(), await one()];
      };
      expect(await three('192.0.2.1')).to.deep.equal([200, 200, 429]);
      // One address in 65,536 shares the counter of another address.
      const others = [await three('192.0.2.2'), await three('192.0.2.3')];
      expect(others).to.deep.include([200, 200, 429]);
      expect(relay.stdout).to.not.contain('--trusted-proxies');
    });
  });

  it('counts all clients together otherwise, limits no exchanges, and warns of both', async () => {
    const flags = { 'rate-limit': '30', 'trusted-proxies': '127.0.0.1' };
    await withRelay(flags, async ({ relay, provider, ask }) => {
      await relay.logLine(({ level, msg }) => level === 'warn' && unixUntrusted.test(`${msg}`));
      provider.onToken = json({ error: 'bad_verification_code' });
      const statuses: unknown[] = [];
      for (let client = 1; client <= 31; client += 1) {
        statuses.push(await ask(`${callbackPath}?code=${canary('code')}`, `192.0.2.${client % 2}`));
      }
      expect(statuses).to.deep.equal([...Array(30).fill(400), 429]);
    });
  });
});
