// Many clients at once, over connections that the provider keeps, breaks and abuses. Each client must get
// its own answer. The run fails on the first token or record of another client.
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { recordOf, tokenFor } from './provider.ts';
import { frontEnd, Relay } from './relay.ts';
import { startUnrulyProvider } from './unruly-provider.ts';
import { manyAtOnce, toldToEnd, Visitor } from './visitor.ts';

const { values } = parseArgs({ options: { replies: { type: 'string', default: '1000000' } } });
const wanted = Number(values.replies);
const people = 500;
const connections = 100;
/** Statuses after a broken or late answer of the provider, or a pause of the machine. */
const refusals = new Set([502, 504, 408]);
const perRound = Math.min(10_000, wanted / 4);

const provider = await startUnrulyProvider();
const relay = await Relay.start({ ...provider.flags, 'provider-timeout': '1' });
const visitor = new Visitor(relay.port, connections);
const start = performance.now();
const counts = { replies: 0, refused: 0, left: 0, brokenOff: 0, rounds: 0 };
const mismatches: string[] = [];

const end = toldToEnd();
while (counts.replies < wanted && mismatches.length === 0 && !end.aborted) {
  counts.rounds += 1;
  await manyAtOnce(perRound, connections, visit, end);
  // Nothing is in flight: whatever the provider says now is an answer to nobody. The next round
  // begins at once, or when the relay has had time to hear it.
  provider.speakUnasked();
  if (counts.rounds % 2 === 0) await wait(2);
}
visitor.leave();
await relay.stop();
provider.stop();

const seconds = ((performance.now() - start) / 1000).toFixed(0);
process.stdout.write(
  `replies: ${counts.replies}
mismatches: ${mismatches.length}
refused with 502, 504 or 408: ${counts.refused}
visitors who left before their answer: ${counts.left}
connections that ended without an answer: ${counts.brokenOff}
answers that nobody had asked for: ${provider.unasked()}
connections to the provider: ${provider.accepted()}
seconds: ${seconds}
`,
);
for (const mismatch of mismatches) process.stderr.write(`${mismatch}\n`);
if (mismatches.length > 0) process.exitCode = 1;

async function visit(index: number): Promise<void> {
  const person = `p${index % people}`;
  // Sometimes a client closes the connection during the call to the provider.
  const leaves = index % 50 === 49;
  const signal = leaves ? AbortSignal.timeout(index % 5) : undefined;
  try {
    await (index % 5 === 4
      ? logIn(`${person}.${counts.rounds}.${index}`, signal)
      : lookUp(person, signal));
  } catch {
    if (leaves) counts.left += 1;
    else counts.brokenOff += 1;
  }
}

async function lookUp(token: string, signal?: AbortSignal): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const { status, body } = await visitor.get('/api/user', headers, signal);
  judge(status, 200, `${body}`, recordOf(token));
}

async function logIn(code: string, signal?: AbortSignal): Promise<void> {
  const reply = await visitor.get(`/auth/provider/callback?code=${code}`, {}, signal);
  const target = `${frontEnd}/?access_token=${tokenFor(code)}`;
  judge(reply.status, 307, reply.headers.location ?? '', target);
}

function judge(status: number, success: number, said: string, own: string): void {
  if (refusals.has(status)) {
    counts.refused += 1;
    return;
  }
  counts.replies += 1;
  if (status !== success || said !== own) mismatches.push(`${status} ${said} instead of ${own}`);
}
