import { readFileSync } from 'node:fs';
import { limits } from '../limits.ts';

// Libraries, log, timers of the system, name lookups, and the connections of the metrics port.
const otherFiles = 128;
/** This many connections are allowed in any case. If there are fewer files, the system refuses some of them. */
const fewestConnections = 16;

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
  const available = files - otherFiles;
  const calls = limits.providerCalls + (hasGateways ? limits.streams : 0);
  const reservedForCalls = Math.min(calls, available / 2);
  return Math.max(fewestConnections, Math.floor(available - reservedForCalls));
}
