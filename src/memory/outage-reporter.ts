/** Why a command failed, as metrics show it. */
export type CommandFailure = 'timeout' | 'refused' | 'full' | 'lost' | 'garbage';

/** Learns what operators may know about the server of the shared memory. */
export interface ServerObserver {
  /** Called after each command. @param failure undefined if the server answered */
  command?(name: string, seconds: number, failure: CommandFailure | undefined): void;
  /** Called for each value in the server that no relay can have left there. */
  garbage?(): void;
  /** The server does not answer. @param reason the code of the failure: an errno, or the server's own */
  away(reason: string): void;
  /**
   * The server answers, but cannot serve the relay as it is configured. This is no outage.
   *
   * @param reason the code of the failure
   */
  unusable(reason: string): void;
  back(seconds: number): void;
}

/**
 * Codes of errors that need an operator: a password, a right or a command is missing, or the server is a node of a
 * Cluster, with only some of the keys.
 */
const needsOperator = /^(NOAUTH|WRONGPASS|NOPERM|MOVED|ASK|CLUSTER|NOCOMMAND)$/;

/** Creates a reporter that tells operators once about each outage, and once about each error that needs them. */
export function createOutageReporter(observer: ServerObserver) {
  /**
   * Whether the start is over: the server was reached, or operators have learned that it is away. Until then, they learn
   * of no return, because they know of no outage.
   */
  let isPastStart = false;
  /** The present error that needs an operator. Successful probes do not end it, because they use another key. */
  let unusable: string | undefined;
  // A server that serves only some keys fails and succeeds in turn. So report each error, and its end, only once.
  const reportedErrors = new Set<string>();
  const reportedEnds = new Set<string>();

  /** Called after a failed attempt to return to the server. */
  function failed(reason: string): void {
    if (!needsOperator.test(reason) || unusable === reason) return;
    unusable = reason;
    isPastStart = true;
    if (!reportedErrors.has(reason)) observer.unusable(reason);
    reportedErrors.add(reason);
  }

  return {
    /** Whether the server was reached before, or operators have learned that it is away. */
    isPastStart: () => isPastStart,
    isUnusable: () => unusable !== undefined,
    failed,
    /** Called when the server was lost. */
    lost(reason: string): void {
      failed(reason);
      // An error that needs an operator is reported by `failed`, and is no outage.
      if (!needsOperator.test(reason) && unusable === undefined) observer.away(reason);
      isPastStart = true;
    },
    /** Called when the server is back. @param seconds how long it was away */
    found(seconds: number): void {
      if (isPastStart && unusable === undefined) observer.back(seconds);
      isPastStart = true;
    },
    /** Called when the server has answered a command of a request. */
    served(): void {
      if (unusable === undefined) return;
      // 0 seconds, because the error was no outage.
      if (!reportedEnds.has(unusable)) observer.back(0);
      reportedEnds.add(unusable);
      unusable = undefined;
    },
  };
}
