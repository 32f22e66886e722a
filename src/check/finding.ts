/** The result of one check, as text for the operator. */
export interface Finding {
  /** The part that was checked, such as `token endpoint`. */
  readonly subject: string;
  /** With `not_checked`, `login-relay check` cannot see whether it is right, so the operator has to look. */
  readonly verdict: 'ok' | 'not_checked' | 'warning' | 'problem';
  readonly message: string;
  /** Advice to the operator; null if the message says what to do. */
  readonly fix: string | null;
}

export type Findings = ReturnType<typeof findingsOn>;

/** Makes findings on one subject, such as `token endpoint`. */
export function findingsOn(subject: string) {
  const make =
    (verdict: Finding['verdict']) =>
    (message: string, fix: string | null = null): Finding => ({ subject, verdict, message, fix });
  return {
    ok: make('ok'),
    notChecked: make('not_checked'),
    /** It works, or may work, but the operator should look at it. */
    warning: make('warning'),
    problem: make('problem'),
  };
}
