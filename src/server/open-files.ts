import { readFileSync } from 'node:fs';
import { limits } from '../limits.ts';

// The libraries, the log, timers of the system, lookups of names, and the connections of the metrics port.
const forTheRest = 128;
/** So few connections are allowed even if fewer files seem to be: then the system refuses some. */
const fewest = 16;

/**
 * The number of files that this process may have open. Node.js raises the soft limit to the hard one when it starts.
 *
 * @returns undefined if the system does not say so, or sets no limit
 */
export function mostOpenFiles(): number | undefined {
  let text: string;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
  const [, soft] = /^Max open files +(\d+)/m.exec(text) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

/**
 * The number of connections that leave files for everything else: calls to providers, and to servers behind the gateway.
 * Each takes one, and so does a connection.
 *
 * @param hasGateways whether there are servers behind the gateway
 */
export function connectionsThatFit(files: number, hasGateways: boolean): number {
  const left = files - forTheRest;
  const calls = limits.providerCalls + (hasGateways ? limits.streams : 0);
  return Math.max(fewest, Math.floor(left - Math.min(calls, left / 2)));
}
