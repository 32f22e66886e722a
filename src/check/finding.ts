/** One thing that was checked, and the result as text for the operator. */
export interface Finding {
  /** What was checked: `token endpoint`. */
  readonly subject: string;
  /** `not_checked`: it may be right or wrong, `login-relay check` cannot see it. */
  readonly verdict: 'ok' | 'not_checked' | 'warning' | 'problem';
  readonly message: string;
  /** What to change or to do, if the message does not say so itself. */
  readonly fix: string | null;
}

/** Nothing to change. */
export function ok(subject: string, message: string): Finding {
  return { subject, verdict: 'ok', message, fix: null };
}

/** The operator has to look: `login-relay check` cannot see it. */
export function notChecked(subject: string, message: string, fix: string | null): Finding {
  return { subject, verdict: 'not_checked', message, fix };
}

/** It works, or may work, but the operator should look at it. */
export function warning(subject: string, message: string, fix: string | null): Finding {
  return { subject, verdict: 'warning', message, fix };
}

/** Logins fail until it is fixed. */
export function problem(subject: string, message: string, fix: string | null): Finding {
  return { subject, verdict: 'problem', message, fix };
}

/** The provider has a problem, and the configuration is not the cause. */
export function providerInTrouble(subject: string, status: number): Finding {
  return warning(
    subject,
    `the provider has a problem (status ${status})`,
    'try again later, and look at the provider’s status page',
  );
}
