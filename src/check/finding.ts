/** One thing that was checked, and the result as text for the operator. */
export interface Finding {
  /** What was checked: `token endpoint`. */
  readonly subject: string;
  /** `not_checked`: `login-relay check` cannot see whether it is right, so the operator has to look. */
  readonly verdict: 'ok' | 'not_checked' | 'warning' | 'problem';
  readonly message: string;
  /** What to change or to do, if the message does not say so itself. */
  readonly fix: string | null;
}

export type Findings = ReturnType<typeof findingsOn>;

/** Makes the findings on one subject, such as `token endpoint`. */
export function findingsOn(subject: string) {
  const make =
    (verdict: Finding['verdict']) =>
    (message: string, fix: string | null = null): Finding => ({ subject, verdict, message, fix });
  return {
    /** Nothing to change. */
    ok: make('ok'),
    notChecked: make('not_checked'),
    /** It works, or may work, but the operator should look at it. */
    warning: make('warning'),
    /** Logins fail until it is fixed. */
    problem: make('problem'),
  };
}
