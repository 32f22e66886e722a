/** One thing that was looked at, and what came of it, in words for the operator. */
export interface Finding {
  /** What was looked at: `token endpoint`. */
  readonly subject: string;
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly message: string;
  /** What to change, where the message does not say so itself. */
  readonly mend: string | null;
}

/** Nothing to change. */
export function ok(subject: string, message: string): Finding {
  return { subject, verdict: 'ok', message, mend: null };
}

/** It works, or may work, but should be looked at. */
export function warning(subject: string, message: string, mend: string | null): Finding {
  return { subject, verdict: 'warning', message, mend };
}

/** Logins fail until it is mended. */
export function problem(subject: string, message: string, mend: string | null): Finding {
  return { subject, verdict: 'problem', message, mend };
}

/** The provider answers, but not now: no fault of the configuration. */
export function providerInTrouble(subject: string, status: number): Finding {
  return warning(
    subject,
    `the provider is in trouble (status ${status})`,
    'try again later, and look at the provider’s status page',
  );
}
