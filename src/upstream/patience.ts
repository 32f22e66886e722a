import type { FailureCode } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';

/** Milliseconds between two checks of the pace. */
const turn = 10_000;
const turnsInMinute = 60_000 / turn;

/** Limits the time of a transfer, which depends on how fast the relay's client reads and sends. */
export interface TransferPatience {
  /** Called when bytes of a body have moved. */
  renew(bytes?: number): void;
  /** Called when the head of the response has arrived. */
  answered(): void;
  stop(): void;
  /** Bytes a minute that the client passes, at most `limits.apiOrdinaryPace`. */
  pace(): number;
}

/**
 * Waits until a moment, whatever arrives.
 *
 * @param deadline milliseconds, on the clock of `performance`
 * @returns stops the clock
 */
export function waitUntil(deadline: number, giveUp: (code: FailureCode) => void): () => void {
  const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()), 'provider_timeout');
  return () => clearTimeout(timer);
}

/** The action of the client that a transfer waits for. Undefined if it waits for the server. */
export type ClientsTurn = 'read' | 'send' | undefined;

const watches = new Set<() => void>();
let watchTimer: NodeJS.Timeout | undefined;

/**
 * Calls `look` at each turn until the result is called. One timer serves all, because a thousand would keep waking the
 * process.
 */
function eachTurn(look: () => void): () => void {
  watches.add(look);
  watchTimer ??= setInterval(() => {
    for (const one of watches) one();
  }, turn);
  return () => {
    watches.delete(look);
    if (watches.size > 0) return;
    clearInterval(watchTimer);
    watchTimer = undefined;
  };
}

/** Measures the bytes that a client passes in a minute. */
function createPace() {
  let bytes = 0;
  let pace: number = limits.apiOrdinaryPace;
  return {
    now: () => pace,
    pass(passed: number): void {
      bytes += passed;
    },
    /** Ends a turn. @returns whether the client is too slow */
    endTurn(isOfClient: boolean): boolean {
      // Bytes arrive in bursts as large as the system's buffers, so smooth them.
      const smoothed = pace + (bytes * turnsInMinute - pace) / 4;
      // While a transfer waits for the server, the client's pace is unknown.
      pace = isOfClient ? Math.min(smoothed, limits.apiOrdinaryPace) : limits.apiOrdinaryPace;
      bytes = 0;
      return pace < limits.apiPace;
    },
  };
}

/**
 * Limits a request to a server behind the gateway. Until the head of its response, the client must send
 * `limits.apiPace`: an upload that is announced and never sent would occupy the server. After the head, a stream lasts
 * as long as both sides want, unless the client reads more slowly than `limits.apiPace` what the server sends.
 *
 * @param silence milliseconds until the head without a byte of the request
 * @param giveUp called at most once
 */
export function waitForHead(
  silence: number,
  clientsTurn: () => ClientsTurn,
  giveUp: (code: FailureCode) => void,
): TransferPatience {
  const pace = createPace();
  let isAnswered = false;
  const end = (code: FailureCode) => {
    stop();
    giveUp(code);
  };
  const silenceTimer = setTimeout(end, silence, 'provider_timeout');
  const stopWatch = eachTurn(() => {
    const awaited = isAnswered ? 'read' : 'send';
    if (pace.endTurn(clientsTurn() === awaited)) end('request_timeout');
  });
  const stop = () => {
    clearTimeout(silenceTimer);
    stopWatch();
  };
  return {
    renew(passed = 0) {
      pace.pass(passed);
      if (!isAnswered) silenceTimer.refresh();
    },
    answered() {
      isAnswered = true;
      clearTimeout(silenceTimer);
    },
    pace: pace.now,
    stop,
  };
}

/**
 * Limits both sides of a transfer: the API must not be silent, and the client must keep `limits.apiPace`.
 *
 * @param silence milliseconds between two renewals while the transfer waits for the API
 * @param clientsTurn whether the transfer waits for the client
 * @param giveUp called at most once
 */
export function waitWithin(
  silence: number,
  clientsTurn: () => ClientsTurn,
  giveUp: (code: FailureCode) => void,
): TransferPatience {
  const pace = createPace();
  let turnsLeft = limits.apiCallTime / turn;
  const end = (code: FailureCode) => {
    stop();
    giveUp(code);
  };
  const silenceTimer = setTimeout(() => {
    if (clientsTurn()) silenceTimer.refresh();
    else end('provider_timeout');
  }, silence);
  const stopWatch = eachTurn(() => {
    const isOfClient = clientsTurn() !== undefined;
    turnsLeft -= 1;
    if (pace.endTurn(isOfClient)) end('request_timeout');
    else if (turnsLeft <= 0) end(isOfClient ? 'request_timeout' : 'provider_timeout');
  });
  const stop = () => {
    clearTimeout(silenceTimer);
    stopWatch();
  };
  const renew = (passed = 0) => {
    pace.pass(passed);
    silenceTimer.refresh();
  };
  return { renew, answered: renew, pace: pace.now, stop };
}
