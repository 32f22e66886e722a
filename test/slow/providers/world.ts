import { expect } from 'chai';
import type { CheckReport } from '../../../src/check/diagnose.ts';
import { type Sending, send } from '../../harness/client/http-client.ts';
import { serve } from '../../harness/provider/serve.ts';
import { type Flags, RelayProcess, runRelay } from '../../harness/relay/relay-process.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import type { Rig } from './rig.ts';

/** A server, a relay that is registered there, and a front end. */
export type World = Awaited<ReturnType<typeof createWorld>>;

/** Starts all of it. */
export async function createWorld(rig: Rig, clientSecret: string, { codeSeconds = 60 } = {}) {
  const port = await freePort();
  const frontEndPort = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const frontEnd = `http://localhost:${frontEndPort}`;
  const callbackUrl = `${baseUrl}/auth/provider/callback`;
  const clientId = 'the-relay';
  const registration = { clientId, clientSecret, redirectUri: callbackUrl };
  const server = await rig.start({ registration, codeSeconds });
  const frontEndServer = await serve((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<p>the front end</p>');
  }, frontEndPort);
  const workspace = await Workspace.create();
  const rightFlags: Flags = {
    origin: frontEnd,
    'base-url': baseUrl,
    'client-id': clientId,
    'client-secret-file': await workspace.write('client-secret', clientSecret),
    issuer: server.issuer,
    ...server.flags,
  };
  const relay = new RelayProcess({ flags: { port: `${port}`, ...rightFlags } });
  const printed: string[] = [];
  /** Stops everything. Neither the relay nor a check may have printed the client secret. */
  const close = async () => {
    const { stdout, stderr } = await relay.stop();
    await frontEndServer.close();
    await server.close();
    await workspace.close();
    for (const form of [clientSecret, encodeURIComponent(clientSecret)]) {
      expect([stdout, stderr, ...printed].join('\n'), 'output').not.to.contain(form);
    }
  };
  try {
    await relay.logLine((line) => line['msg'] === 'listening');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    server,
    relay,
    loginUrl: `${baseUrl}/auth/provider`,
    callbackUrl,
    frontEnd,
    send: (sending: Sending) => send(port, sending),
    /** The problems and warnings of `login-relay check` with the relay's configuration. */
    async complaints(): Promise<unknown[]> {
      const { stdout, stderr } = await runRelay({ words: ['check', '--json'], flags: rightFlags });
      printed.push(stdout, stderr);
      const { findings }: CheckReport = JSON.parse(stdout);
      return findings.filter(({ verdict }) => verdict === 'problem' || verdict === 'warning');
    },
    close,
  };
}
