import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigReading } from '../config/config.ts';
import { failureCodeOf, probes } from '../memory/availability.ts';
import { createRedisClient, placesOf } from '../memory/redis-client.ts';
import { UnseenSecret } from '../sealing/secret.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Milliseconds for the connection and all commands together. */
const patience = 5_000;

const meanings: Readonly<Record<string, string>> = {
  CLUSTER: 'is a node of a Cluster',
  MOVED: 'is a node of a Cluster',
  NOCOMMAND: 'does not know a command that relays need',
  NOAUTH: 'asks for a password',
  NOPERM: 'does not let this user run all commands that relays need',
  OOM: 'is full',
  READONLY: 'cannot be written: it is a replica',
  WRONGPASS: 'refuses the user or the password',
  timeout: 'does not answer',
};

/** Codes of a server that may not be running. `lost` is all that the client says about a Sentinel. */
const mayNotRun = /^(ECONNREFUSED|ENOENT|timeout|lost)$/;

/** Connects to the shared memory, and tries each command. */
export async function checkSharedMemory({ config, readings }: ConfigReading): Promise<Finding[]> {
  if (config.memory === undefined) return [];
  const { notChecked, ok, warning, problem } = findingsOn('shared memory');
  if (config.memory.password instanceof UnseenSecret) {
    return [notChecked('not asked: this command does not have its password or certificates')];
  }
  const { describe } = readings.relay;
  const client = await createRedisClient(config.memory);
  let failure: unknown;
  client.onLoss((error) => {
    failure ??= error;
  });
  const tryCommands = async () => {
    await client.open();
    const begun = performance.now();
    for (const words of probes) await client.run(words);
    const milliseconds = Math.ceil((performance.now() - begun) / probes.length);
    const hello = `${JSON.stringify(await client.run(['HELLO']))}`;
    const [version, role] = ['version', 'role'].map((key) => fieldOf(hello, key));
    // This user may not be allowed to run INFO, which only this check needs.
    const policy = await client.run(['INFO', 'memory']).catch(() => '');
    const evicts = /maxmemory_policy:(allkeys-\w+)/.exec(`${policy}`)?.[1];
    const answers = ok(`version ${version}, ${role}, answers in ${milliseconds} ms`);
    const forgets = `it may forget logouts when it is full (${evicts})`;
    return evicts ? [answers, warning(forgets, 'set maxmemory-policy noeviction')] : [answers];
  };
  const late = sleep(patience, undefined, { ref: false }).then(() => {
    throw new Error('timeout');
  });
  try {
    return await Promise.race([tryCommands(), late]);
  } catch (error) {
    // The reason for a lost connection says more than the command that it interrupted.
    const code = failureCodeOf(failure ?? error);
    const correct = `correct ${describe('sharedMemory')} or its user, password or certificates`;
    if (/^(CLUSTER|MOVED)$/.test(code)) {
      return [problem(`${meanings[code]} (${code})`, `write redis+cluster:// in ${describe('sharedMemory')}`)];
    }
    const fix = mayNotRun.test(code) ? `start it, or ${correct}` : correct;
    return [problem(`${placesOf(config.memory.address)} ${meanings[code] ?? 'cannot be reached'} (${code})`, fix)];
  } finally {
    await client.close();
  }
}

/** The value of a field of HELLO. Servers send a map (`:`) or a flat list (`,`). */
function fieldOf(json: string, key: string): string {
  return new RegExp(`"${key}"[:,]"([\\w.]+)"`).exec(json)?.[1] ?? 'unknown';
}
