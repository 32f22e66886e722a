import type { FailureCode } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';

/** Milliseconds between two looks at the pace. */
const turn = 10_000;
const turnsInMinute = 60_000 / turn;

/** How long an attempt may take. */
export interface Patience {
  /** Something of a body has moved. */
  renew(bytes?: number): void;
  /** The head of the response has arrived. */
  answered(): void;
  stop(): void;
}

/** How long a transfer may take, which depends on how fast the relay's client reads and sends. */
export interface TransferPatience extends Patience {
  /** Bytes a minute that the client lets pass, `limits.apiOrdinaryPace` at most. */
  pace(): number;
}

/** Waits until a moment, whatever arrives. @param deadline milliseconds, on the clock of `performance` */
export function waitUntil(deadline: number, giveUp: (code: FailureCode) => void): Patience {
  const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()), 'provider_timeout');
  return { renew: () => {}, answered: () => {}, stop: () => clearTimeout(timer) };
}

/**
 * Waits for the head of a response alone: after it, streams last as long as both sides want.
 *
 * @param silence milliseconds without a byte of the request
 */
export function waitForHead(
  silence: number,
  _isClientsTurn: () => boolean,
  giveUp: (code: FailureCode) => void,
): TransferPatience {
  const timer = setTimeout(giveUp, silence, 'provider_timeout');
  const stop = () => clearTimeout(timer);
  let isAnswered = false;
  return {
    renew() {
      if (!isAnswered) timer.refresh();
    },
    answered() {
      isAnswered = true;
      stop();
    },
    pace: () => limits.apiOrdinaryPace,
    stop,
  };
}

/**
 * Waits for both sides of a transfer: the API must not be silent, and the client must not be slower than
 * `limits.apiPace` over about a minute.
 *
 * @param silence milliseconds that may pass between two renewals while the API is waited for
 * @param isClientsTurn whether the transfer waits for the client
 * @param giveUp called at most once
 */
export function waitWithin(
  silence: number,
  isClientsTurn: () => boolean,
  giveUp: (code: FailureCode) => void,
): TransferPatience {
  const { apiCallTime, apiPace, apiOrdinaryPace } = limits;
  let turnsLeft = apiCallTime / turn;
  let bytes = 0;
  let pace: number = apiOrdinaryPace;
  const stop = () => {
    clearTimeout(silenceTimer);
    clearInterval(turnTimer);
  };
  const end = (code: FailureCode) => {
    stop();
    giveUp(code);
  };
  const silenceTimer = setTimeout(() => {
    if (isClientsTurn()) silenceTimer.refresh();
    else end('provider_timeout');
  }, silence);
  const turnTimer = setInterval(() => {
    const isOfClient = isClientsTurn();
    // Bytes arrive in bursts, as large as the buffers of the system.
    const smoothed = pace + (bytes * turnsInMinute - pace) / 4;
    // A transfer that waits for the API says nothing of the client's pace.
    pace = isOfClient ? Math.min(smoothed, apiOrdinaryPace) : apiOrdinaryPace;
    bytes = 0;
    turnsLeft -= 1;
    if (pace < apiPace) end('request_timeout');
    else if (turnsLeft <= 0) end(isOfClient ? 'request_timeout' : 'provider_timeout');
  }, turn);
  const renew = (passed = 0) => {
    bytes += passed;
    silenceTimer.refresh();
  };
  return { renew, answered: renew, pace: () => pace, stop };
}
