import { type Answer, honestly, written } from './provider.ts';

interface Fault {
  readonly answer: Answer;
  /** The relay's answer to a lookup and to a callback during the fault. */
  readonly lookup: number;
  readonly callback: number;
}

/** Faults of the provider, with the relay's answers. */
const faults: Readonly<Record<string, Fault>> = {
  reset: {
    answer: (connection) => connection.resetAndDestroy(),
    lookup: 502,
    callback: 502,
  },
  hangUp: {
    answer: (connection) => connection.destroy(),
    lookup: 502,
    callback: 502,
  },
  truncated: {
    answer: (connection, body) => connection.end(written(body).slice(0, -3)),
    lookup: 502,
    callback: 502,
  },
  garbled: {
    answer: (connection) => connection.write(written('<!doctype html><title>Sorry</title>')),
    lookup: 502,
    callback: 400,
  },
  serverError: {
    answer: (connection, body) => connection.write(written(body).replace('200 OK', '500 Oh')),
    lookup: 401,
    callback: 400,
  },
  tooLong: {
    answer: (connection) => connection.write(written(' '.repeat(1_100_000))),
    lookup: 502,
    callback: 502,
  },
  silent: { answer: () => {}, lookup: 504, callback: 504 },
};

const names = Object.keys(faults);
const every = 20;

/** The fault of request number `index`. One in 20 has a fault, each kind in turn. */
export function faultOf(index: number): string {
  if (index % every !== every - 1) return 'none';
  return names[Math.floor(index / every) % names.length] ?? 'none';
}

/** The relay's status for a lookup or a callback with the fault. */
export function expectedStatus(endpoint: 'lookup' | 'callback', fault: string): number {
  return faults[fault]?.[endpoint] ?? (endpoint === 'lookup' ? 200 : 307);
}

/** Answers each call with the fault that its credential names after a dot. */
export const withFaults: Answer = (connection, body, credential) => {
  const fault = faults[credential.slice(credential.lastIndexOf('.') + 1)];
  (fault?.answer ?? honestly)(connection, body, credential);
};
