import { readFileSync } from 'node:fs';
import { limits } from '../limits.ts';

// Libraries, log, timers of the system, name lookups, and the connections of the metrics port.
const forTheRest = 128;
/** So many connections are allowed in any case. With fewer files, the system refuses some. */
const fewest = 16;

/**
 * The number of files that this process may open. Node.js raises the soft limit to the hard one when it starts.
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
 * The number of connections that leave enough files for calls to providers and to servers behind the gateway.
 *
 * @param hasGateways whether there are servers behind the gateway
 */
export function connectionsThatFit(files: number, hasGateways: boolean): number {
  const left = files - forTheRest;
  const calls = limits.providerCalls + (hasGateways ? limits.streams : 0);
  return Math.max(fewest, Math.floor(left - Math.min(calls, left / 2)));
}
