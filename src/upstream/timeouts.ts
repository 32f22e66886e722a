import type { FailureCode } from '../failures/relay-error.ts';
import { createInFlight } from '../in-flight.ts';
import { limits } from '../limits.ts';

/** Milliseconds between two checks of the pace. */
const checkInterval = 10_000;
const checksPerMinute = 60_000 / checkInterval;

/** Limits the time of a transfer, which depends on how fast the relay's client reads and sends. */
export interface TransferTimeout {
  /** Called when bytes of a body have moved in either direction. */
  renew(bytes?: number): void;
  /** Called when the head of the response has arrived. */
  onAnswered(): void;
  stop(): void;
  /** Bytes a minute that the client reads or sends, at most `limits.apiOrdinaryPace`. */
  pace(): number;
}

/**
 * Gives up at the deadline, even if a part of the response has arrived.
 *
 * @param deadline milliseconds, on the clock of `performance`
 * @returns a function that stops the clock
 */
export function startDeadline(deadline: number, giveUp: (code: FailureCode) => void): () => void {
  const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()), 'provider_timeout');
  return () => clearTimeout(timer);
}

/** The action of the client that a transfer waits for. Undefined if it waits for the server. */
export type ClientsTurn = 'read' | 'send' | undefined;

const checks = createInFlight<() => void>();
let checkTimer: NodeJS.Timeout | undefined;

/**
 * Calls `check` at each interval. One timer serves all transfers, because a thousand timers would keep waking the
 * process.
 *
 * @returns a function that stops the checks
 */
function checkRegularly(check: () => void): () => void {
  checks.add(check);
  checkTimer ??= setInterval(() => {
    for (const each of checks.all()) each();
  }, checkInterval);
  return () => {
    checks.remove(check);
    if (checks.count() > 0) return;
    clearInterval(checkTimer);
    checkTimer = undefined;
  };
}

/** Measures the bytes a minute that a client reads or sends. */
function createPaceMeter() {
  let bytesInInterval = 0;
  let pace: number = limits.apiOrdinaryPace;
  return {
    pace: () => pace,
    count(bytes: number): void {
      bytesInInterval += bytes;
    },
    /** Computes the pace after an interval. @returns whether the client is too slow */
    endInterval(isClientsTurn: boolean): boolean {
      const measured = bytesInInterval * checksPerMinute;
      // Bytes arrive in bursts as large as the system's buffers, so smooth them.
      const smoothed = pace + (measured - pace) / 4;
      // While a transfer waits for the server, the client's pace is unknown.
      pace = isClientsTurn ? Math.min(smoothed, limits.apiOrdinaryPace) : limits.apiOrdinaryPace;
      bytesInInterval = 0;
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
 * @param clientsTurn returns the action of the client that the transfer waits for
 * @param giveUp called at most once
 */
export function startGatewayTimeout(
  silence: number,
  clientsTurn: () => ClientsTurn,
  giveUp: (code: FailureCode) => void,
): TransferTimeout {
  const meter = createPaceMeter();
  let isAnswered = false;
  const end = (code: FailureCode) => {
    stop();
    giveUp(code);
  };
  const silenceTimer = setTimeout(end, silence, 'provider_timeout');
  const stopChecks = checkRegularly(() => {
    const limitedTurn = isAnswered ? 'read' : 'send';
    const isTooSlow = meter.endInterval(clientsTurn() === limitedTurn);
    if (isTooSlow) end('request_timeout');
  });
  const stop = () => {
    clearTimeout(silenceTimer);
    stopChecks();
  };
  return {
    renew(bytes = 0) {
      meter.count(bytes);
      if (!isAnswered) silenceTimer.refresh();
    },
    onAnswered() {
      isAnswered = true;
      clearTimeout(silenceTimer);
    },
    pace: meter.pace,
    stop,
  };
}

/**
 * Limits a call to a provider's API: the API must not be silent, the client must keep `limits.apiPace`, and the whole
 * call may take `limits.apiCallTime`.
 *
 * @param silence milliseconds between two renewals while the transfer waits for the API
 * @param clientsTurn returns the action of the client that the transfer waits for
 * @param giveUp called at most once
 */
export function startApiTimeout(
  silence: number,
  clientsTurn: () => ClientsTurn,
  giveUp: (code: FailureCode) => void,
): TransferTimeout {
  const meter = createPaceMeter();
  let intervalsLeft = limits.apiCallTime / checkInterval;
  const end = (code: FailureCode) => {
    stop();
    giveUp(code);
  };
  const silenceTimer = setTimeout(() => {
    if (clientsTurn()) silenceTimer.refresh();
    else end('provider_timeout');
  }, silence);
  const stopChecks = checkRegularly(() => {
    const isClientsTurn = clientsTurn() !== undefined;
    intervalsLeft -= 1;
    const isTooSlow = meter.endInterval(isClientsTurn);
    if (isTooSlow) end('request_timeout');
    else if (intervalsLeft <= 0) end(isClientsTurn ? 'request_timeout' : 'provider_timeout');
  });
  const stop = () => {
    clearTimeout(silenceTimer);
    stopChecks();
  };
  const renew = (bytes = 0) => {
    meter.count(bytes);
    silenceTimer.refresh();
  };
  return { renew, onAnswered: renew, pace: meter.pace, stop };
}
