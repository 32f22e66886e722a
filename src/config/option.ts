import type * as v from 'valibot';

/** One setting. Its flag, variable, help text and row in the README all come from here. */
export interface Option {
  readonly flag: `--${string}`;
  /** The flag's argument, as help shows it. A flag without an argument is a switch. */
  readonly argument?: string;
  readonly variable: string;
  readonly group:
    | 'Required'
    | 'Configuration file'
    | 'Listening'
    | 'Front end'
    | 'Provider'
    | 'Login protection'
    | 'Logs and metrics';
  readonly help: string;
  /** The value if neither the flag nor the variable is set. */
  readonly default?: string;
  /** What happens without a value, in words, if there is no fixed `default`. */
  readonly otherwise?: string;
  /** True if the flag may be given several times. The variable has spaces between its values. */
  readonly repeatable?: true;
  /** True if the value is a secret, or may be one by mistake. Messages never show it. */
  readonly secret?: true;
  readonly schema: v.GenericSchema<string, unknown>;
}

/** A message about one of several values of an option, which it names by its number. */
export function numbered(index: number, count: number, message: string): string {
  return count > 1 ? `number ${index + 1} ${message}` : message;
}
