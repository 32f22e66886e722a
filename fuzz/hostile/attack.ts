import { connect, type Socket } from 'node:net';
import { readAnswers } from './answer.ts';
import type { CredentialSource } from './credentials.ts';
import { type Random, randomFor } from './random.ts';
import { hostileRequests } from './requests.ts';
import { faultOf, type Targets } from './rules.ts';

// Longer than the relay waits for a request.
const hang = 60_000;

/** The settings of an attack on a port. */
export interface Attack {
  readonly port: number;
  readonly targets: Targets;
  readonly credentials: CredentialSource;
  readonly seed: number;
  /** The number of requests. */
  readonly requests: number;
  /** The number of open connections at a time. */
  readonly connections: number;
  /** The number of the first connection. Number and seed determine the requests. */
  readonly first?: number;
}

/** The results of an attack. */
class AttackReport {
  sent = 0;
  answered = 0;
  connections = 0;
  /** The count of each status. */
  readonly statuses = new Map<number, number>();
  readonly faults: string[] = [];
}

/** Sends that many hostile requests, and checks every answer. */
export async function attack(plan: Attack): Promise<AttackReport> {
  const report = new AttackReport();
  const attacker = async () => {
    while (report.sent < plan.requests) {
      const number = (plan.first ?? 0) + report.connections;
      report.connections += 1;
      await attackOnce(plan, number, report);
    }
  };
  await Promise.all(Array.from({ length: plan.connections }, attacker));
  return report;
}

async function attackOnce(plan: Attack, number: number, report: AttackReport): Promise<void> {
  const random = randomFor(plan.seed, number);
  const requests = hostileRequests(random, await plan.credentials(random));
  report.sent += requests.length;
  const { answers, fault } = await exchange(plan.port, requests, random);
  report.answered += answers.length;
  for (const { status } of answers) {
    report.statuses.set(status, (report.statuses.get(status) ?? 0) + 1);
  }
  const faults = answers.map((answer) => faultOf(answer, plan.targets));
  for (const found of [fault, ...faults]) {
    if (found === undefined) continue;
    report.faults.push(`seed ${plan.seed}, connection ${number}: ${found}`);
  }
}

/** Sends the requests on one connection, in one of several ways, and reads the answers. */
async function exchange(port: number, requests: readonly string[], random: Random) {
  const bytes = Buffer.from(requests.join(''), 'latin1');
  const manner = random.below(20);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  let received = '';
  let hung = false;
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    // Every request but the last is complete. So the connection stays open until they are answered.
    if (manner > 1 && readAnswers(received, true).answers.length >= requests.length - 1) socket.end();
  });
  // The relay may close the connection of a refused request early.
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  const timer = setTimeout(() => {
    hung = true;
    socket.destroy();
  }, hang);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  if (manner > 17) await writeInPieces(socket, bytes, random);
  else socket.write(bytes);
  if (manner === 0) socket.resetAndDestroy();
  else if (manner === 1 || requests.length === 1) socket.end();
  await closed;
  clearTimeout(timer);
  const { answers, rest } = readAnswers(received, true);
  const isAnswered = rest === '' || manner === 0;
  const fault = isAnswered ? undefined : `bytes that are no answer: ${rest.slice(0, 500)}`;
  return { answers, fault: hung ? 'a hang' : fault };
}

async function writeInPieces(socket: Socket, bytes: Buffer, random: Random): Promise<void> {
  for (let start = 0; start < bytes.length; ) {
    const end = start + 1 + random.below(bytes.length);
    socket.write(bytes.subarray(start, end));
    start = end;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
