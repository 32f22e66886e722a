import { expect } from 'chai';
import { type Sending, send } from '../../harness/client/http-client.ts';
import { serve } from '../../harness/provider/serve.ts';
import { type Flags, RelayProcess } from '../../harness/relay/relay-process.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import { Checkup } from './check.ts';
import type { Rig } from './rig.ts';

/** The differences from the right configuration. */
export interface Mistake {
  readonly flags?: Flags;
  readonly clientSecret?: string;
}

/** A server, a relay that is registered there, and a front end. */
export type World = Awaited<ReturnType<typeof createWorld>>;

/** Starts all of it. */
export async function createWorld(rig: Rig, clientSecret: string, { codeSeconds = 60 } = {}) {
  const [port, frontEndPort] = [await freePort(), await freePort()];
  const [baseUrl, frontEnd] = [`http://localhost:${port}`, `http://localhost:${frontEndPort}`];
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
    /** Runs `login-relay check` with the relay's configuration and the mistake. */
    async check({ flags = {}, clientSecret: wrongSecret }: Mistake = {}) {
      const secretFlags: Flags =
        wrongSecret === undefined
          ? {}
          : { 'client-secret-file': await workspace.write('wrong-secret', wrongSecret) };
      const checkup = await Checkup.of({ ...rightFlags, ...secretFlags, ...flags });
      printed.push(checkup.output);
      return checkup;
    },
    close,
  };
}
