import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { warnOfFullGateway } from '../../../src/observability/occasional-warnings.ts';
import { createMetrics } from '../../../src/observability/request-metrics.ts';
import { GuardedRelay } from '../../access/support/guarded-relay.ts';
import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import { send } from '../../harness/client/http-client.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { serve, serveTcp } from '../../harness/provider/serve.ts';
import { baseUrl } from '../../harness/relay/relay.ts';
import { createRelayHere } from '../../harness/relay/relay-in-process.ts';
import { type LogLine, RelayProcess } from '../../harness/relay/relay-process.ts';
import {
  frontendOrigin,
  loginPath,
  secretFile,
  startRelayWith,
  withRelay,
} from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { FullDisk } from '../../harness/system/full-disk.ts';
import {
  ada,
  bearer,
  check,
  logIn,
  notes,
  ofApp,
  settings,
  tokensOf,
} from '../../resources/support/resources-relay.ts';
import { listenFor, opening, switching } from '../../resources/support/websocket-relay.ts';

/** The log of a relay whose disk was full for a while. */
export async function lineOfLostLines(): Promise<LogLine> {
  const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
  const disk = new FullDisk(join(directory, 'log'));
  await withRelay({ launcher: disk.launcher }, async (underTest) => {
    for (let left = 120; left > 0; left -= 1) await underTest.get(loginPath);
    disk.makeRoom(underTest);
    await underTest.get(loginPath);
    await underTest.process.stop();
  });
  const line: LogLine = JSON.parse(disk.lines().find((text) => text.includes('"lost"')) ?? '');
  await rm(directory, { recursive: true });
  return line;
}

/** The log of a relay with two providers, one of which is down, and two front ends. */
export async function linesOfSeveral(): Promise<readonly LogLine[]> {
  const relay = await startRelayWith(`port: 0
base-url: https://relay.example
providers:
  github: { client-id: a, client-secret: b }
  staff: { issuer: 'http://127.0.0.1:1', client-id: a, client-secret: b }
front-ends:
  app: { origin: https://app.example }
  blog: { origin: https://blog.example }
`);
  await relay.lineOf(await relay.get('/auth/github/blog'));
  await relay.stop();
  return relay.process.logLines;
}

/** The log of a relay that refuses a person. */
export async function linesOfRefused(): Promise<readonly LogLine[]> {
  const relay = await GuardedRelay.listen();
  await relay.guard({ frontEnd: 'token-delivery: query, allow: { users: [somebody-else] }' });
  await relay.logIn();
  await eventually(async () => {
    expect(relay.lines.map(({ access }) => access)).to.include('refused');
    // Otherwise, they may reach the next provider, at the same port.
    expect(relay.provider.credentials('revocation')).to.have.length(2);
  });
  await relay.stop();
  return relay.lines;
}

/** The log of a relay with a resource at a host of its own, which is asked for another host. */
export async function linesOfUnknownHost(): Promise<readonly LogLine[]> {
  const resources = 'resources:\n  wiki: { url: https://wiki.example/, upstream: http://127.0.0.1:1/ }\n';
  const frontEnds = '  app: { origin: https://app.example, token-delivery: code, resources: [wiki] }\n';
  const relay = await ClientsRelay.start({ relay: resources, frontEnds });
  await relay.send({ path: '/', authority: 'other.example' });
  await eventually(async () =>
    expect(relay.lines.map(({ known }) => known)).to.deep.include(['relay.example', 'wiki.example']),
  );
  await relay.stop();
  return relay.lines;
}

/** The log of a relay that expects a field of the provider's token answer, which the provider does not give. */
export async function linesOfMissingField(): Promise<readonly LogLine[]> {
  const relay = await GuardedRelay.listen();
  await relay.guard({ frontEnd: 'token-delivery: session', provider: 'token-fields: [instance_url]' });
  await relay.sessionPage().logIn();
  await relay.stop();
  return relay.lines;
}

/** The log of a relay that may open few files, and to which somebody speaks another protocol. */
export async function linesOfFewFiles(): Promise<readonly LogLine[]> {
  const launcher = ['sh', '-c', 'ulimit -n 300 && exec "$0" "$@"'];
  return await withRelay({ launcher }, async (underTest) => {
    await underTest.sendBytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    await underTest.process.logLine(({ outcome, peer }) => outcome === 'http2_unexpected' && peer !== undefined);
    return underTest.process.logLines;
  });
}

/** The log of a relay at which somebody uses resources, and the values of their metrics. */
export async function useOfResource() {
  const streams = new Map([['own', 1]]);
  const idle = { callsInFlight: 0, ready: true, providers: [], streams };
  const metrics = createMetrics(() => idle);
  const own = `${baseUrl}/own`;
  const server = await serveTcp((socket) => socket.once('data', () => socket.end(`${switching()}hello`)));
  const relay = await ClientsRelay.start({
    ...settings,
    relay: `log-people: true\n${settings.relay}  own: { url: ${own}, upstream: http://127.0.0.1:${server.port}/own }\n`,
    frontEnds: settings.frontEnds.replace('[notes, files]', '[notes, files, own]'),
    surroundings: { observers: [metrics.observe] },
  });
  relay.provider.onUser = json(ada);
  const { access_token } = tokensOf(await logIn(relay, { ...ofApp, resource: notes }));
  await check(relay, 'notes', bearer(access_token));
  const ofOwn = tokensOf(await logIn(relay, { ...ofApp, resource: own }));
  const listening = await listenFor(relay);
  const client = await RawConnection.open(Number(new URL(listening.address).port));
  const { host } = new URL(own);
  client.say(opening(ofOwn.access_token, { Host: host }, 'GET /own HTTP/1.1'));
  await client.closed;
  const series = await eventually(async () => {
    const found = (await metrics.text()).match(/^login_relay_resource_.*\{.*$/gm);
    expect(found).to.have.length(8);
    return found?.join('\n');
  });
  await Promise.all([listening.close(), server.close()]);
  await relay.stop();
  return { lines: relay.lines, series };
}

/** The log line of a gateway at which one person has many requests in flight. */
export function lineOfFullGateway(): LogLine {
  let written = '';
  const log = pino({ base: null }, { write: (line) => (written = line) });
  warnOfFullGateway(log, () => ({ people: 2, most: 128, person: '42' }), true)();
  return JSON.parse(written);
}

/** The log line of a request with an unexpected error. */
export async function unexpectedError(): Promise<LogLine> {
  const written = Promise.withResolvers<string>();
  let hasStarted = false;
  const relay = await createRelayHere({}, written.resolve, () => {
    if (hasStarted) throw new Error('the clock has stopped');
    return Date.now();
  });
  hasStarted = true;
  const server = await serve(relay.listener);
  await send(server.port, { path: loginPath });
  await server.close();
  relay.close();
  const { msg, stack } = JSON.parse(await written.promise);
  return { msg, stack };
}

/** The log of a relay on a socket of systemd: neither its issuer nor systemd answers. */
export async function linesOnSystemdSocket(): Promise<LogLine[]> {
  const port = await freePort();
  const socket = ['--listen', `127.0.0.1:${port}`];
  const relay = new RelayProcess({
    launcher: ['systemd-socket-activate', ...socket, '--setenv', 'NOTIFY_SOCKET=/nowhere'],
    flags: {
      origin: frontendOrigin,
      'base-url': 'https://relay.example',
      'client-id': 'client',
      'client-secret-file': await secretFile(canary('secret')),
      issuer: 'http://127.0.0.1:1',
    },
  });
  while (!(await send(port, { path: '/healthz' }).catch(() => undefined)));
  await relay.logLine(({ msg }) => msg === 'provider discovery');
  await relay.logLine(({ msg }) => String(msg).startsWith('systemd-notify'));
  await relay.stop();
  return relay.logLines;
}
