/** The time that a relayed transfer may take. */
export interface Patience {
  /** Something has arrived: start waiting again. */
  renew(): void;
  stop(): void;
}

/**
 * Waits for the other side of a transfer.
 *
 * @param silence milliseconds that may pass between two renewals
 * @param longest milliseconds that the whole transfer may take
 * @param isExcused whether the silence is not the other side's: then it does not count
 * @param onTimeout called at most once
 */
export function waitWithin(
  { silence, longest }: { readonly silence: number; readonly longest: number },
  isExcused: () => boolean,
  onTimeout: () => void,
): Patience {
  const stop = () => {
    clearTimeout(silent);
    clearTimeout(whole);
  };
  const giveUp = () => {
    stop();
    onTimeout();
  };
  const silent = setTimeout(() => {
    if (isExcused()) silent.refresh();
    else giveUp();
  }, silence);
  const whole = setTimeout(giveUp, longest);
  return { renew: () => void silent.refresh(), stop };
}
