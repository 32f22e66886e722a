import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../harness/system/eventually.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { GatewayRig } from './support/gateway-rig.ts';
import { openFirstSdk, openMcpRemote, openModernSdk, openSecondSdk } from './support/mcp-clients.ts';

const hour = 3_600_000;

/** Seconds that a tool takes. `scripts/long tools` sets a larger number. */
const duration = Number(process.env['TOOL_SECONDS'] ?? 3);
const steps = duration * 2;

const clients = {
  'the MCP SDK 1': [openFirstSdk, 'everything'],
  'the MCP SDK 2': [openSecondSdk, 'everything'],
  'the MCP SDK 2 with the protocol of 2026-07-28': [openModernSdk, 'modern'],
  'mcp-remote': [openMcpRemote, 'everything'],
} as const;

describe('a server of MCP that knows nothing of logins, behind the gateway, is used by', () => {
  const rig = startedOnce('the relay and the servers', GatewayRig.start, (one) => one.stop());
  let home: string;
  beforeEach(() => {
    rig().forget();
    home = mkdtempSync(join(tmpdir(), 'login-relay-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  for (const [name, [open, server]] of Object.entries(clients)) {
    it(`${name}, unmodified: tools, progress, cancellation, and calls after the end of the token`, async function () {
      this.timeout(60_000 + duration * 1000);
      const client = await open({ rig: rig(), url: rig().urls[server], home });
      const echo = () => client.run('echo', { message: 'hello' });
      try {
        expect(await client.names()).to.include('echo');
        expect(await echo()).to.equal('Echo: hello');

        const delays = await progressOf(client, rig().sent);
        // Even without the gateway, mcp-remote may lose the last event, which comes with the answer.
        expect(delays).to.have.length.within(steps - 1, steps);
        expect(Math.max(...delays), 'milliseconds').to.be.within(0, 1000);
        if (process.env['TOOL_SECONDS'])
          process.stdout.write(`    latest of ${steps} events: ${Math.max(...delays).toFixed()} ms\n`);

        const ending = new AbortController();
        const cancelled = client.run(
          slow,
          { duration: 60, steps: 600 },
          {
            onprogress: () => ending.abort(),
            signal: ending.signal,
          },
        );
        expect(await cancelled.catch(String)).to.match(/abort/i);
        expect(await echo()).to.equal('Echo: hello');
        if (server === 'modern') await eventually(async () => expect(rig().cancelled).to.equal(1));

        const refreshes = () => rig().relay.provider.credentials('refresh').length;
        rig().relay.ahead += hour;
        // Of two refreshes in the same millisecond, mcp-remote loses both. An event stream that has ended makes the first.
        if (name === 'mcp-remote') {
          await eventually(async () => expect(refreshes()).to.equal(1));
          await delay(3000);
        }
        expect(await Promise.all([echo(), echo(), echo()])).to.deep.equal(
          Array.from({ length: 3 }, () => 'Echo: hello'),
        );
        expect(refreshes()).to.equal(1);
        expect(rig().logins).to.have.lengthOf(1);
      } finally {
        await client.close();
      }
    });
  }
});

const slow = 'trigger-long-running-operation';

/** Runs a tool that takes long. @returns how long each event took from the server to the client */
async function progressOf(client: Awaited<ReturnType<typeof openFirstSdk>>, sent: number[]): Promise<number[]> {
  sent.length = 0;
  const delays: number[] = [];
  await client.run(
    slow,
    { duration, steps },
    {
      onprogress: ({ progress }) => delays.push(performance.now() - (sent[progress - 1] ?? Infinity)),
    },
  );
  return delays;
}
