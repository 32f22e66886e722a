import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigReading } from '../config/config.ts';
import { createRedisClient, describeServers, type RedisClient } from '../memory/redis-client.ts';
import { probes, readFailureCode } from '../memory/redis-commands.ts';
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

const { notChecked, ok, warning, problem } = findingsOn('shared memory');

/** Connects to the shared memory, and tries each command. */
export async function checkSharedMemory({ config, readings }: ConfigReading): Promise<Finding[]> {
  if (config.memory === undefined) return [];
  if (config.memory.password instanceof UnseenSecret) {
    return [notChecked('not asked: this command does not have its password or certificates')];
  }
  const client = await createRedisClient(config.memory);
  let lossReason: unknown;
  client.onLoss((error) => {
    lossReason ??= error;
  });
  const late = sleep(patience, undefined, { ref: false }).then(() => {
    throw new Error('timeout');
  });
  try {
    return await Promise.race([tryCommands(client), late]);
  } catch (error) {
    // The reason for a lost connection says more than the command that it interrupted.
    const code = readFailureCode(lossReason ?? error);
    return [explainFailure(code, config.memory.address, readings.relay.describe('sharedMemory'))];
  } finally {
    await client.close();
  }
}

/** Tries the commands that relays use. Warns about a server that may evict what relays must not forget. */
async function tryCommands(client: RedisClient): Promise<Finding[]> {
  await client.open();
  const begun = performance.now();
  for (const words of probes) await client.run(words);
  const milliseconds = Math.ceil((performance.now() - begun) / probes.length);
  const hello = `${JSON.stringify(await client.run(['HELLO']))}`;
  const version = readHelloField(hello, 'version');
  const role = readHelloField(hello, 'role');
  const description = `version ${version}, ${role}, answers in ${milliseconds} ms`;
  // This user may not be allowed to run INFO, which only this check needs.
  const memoryInfo = await client.run(['INFO', 'memory']).catch(() => '');
  const evictionPolicy = /maxmemory_policy:(allkeys-\w+)/.exec(`${memoryInfo}`)?.[1];
  if (evictionPolicy === undefined) return [ok(description)];
  const message = `${description}, but may forget logouts when it is full (${evictionPolicy})`;
  return [warning(message, 'set maxmemory-policy noeviction')];
}

/** Says why the shared memory failed, by its code. @param setting the name of the setting with the address */
function explainFailure(code: string, address: string, setting: string): Finding {
  if (/^(CLUSTER|MOVED)$/.test(code)) {
    return problem(`${meanings[code]} (${code})`, `write redis+cluster:// in ${setting}`);
  }
  const correct = `correct ${setting} or its user, password or certificates`;
  const fix = mayNotRun.test(code) ? `start it, or ${correct}` : correct;
  return problem(`${describeServers(address)} ${meanings[code] ?? 'cannot be reached'} (${code})`, fix);
}

/** Reads a field of the answer to HELLO. Servers send a map (`:`) or a flat list (`,`). */
function readHelloField(json: string, key: string): string {
  return new RegExp(`"${key}"[:,]"([\\w.]+)"`).exec(json)?.[1] ?? 'unknown';
}
