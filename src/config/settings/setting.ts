import type * as v from 'valibot';

/** Where a setting applies: to the whole relay, or to an entry of a map in the file. */
export type Level = 'relay' | 'providers' | 'front-ends' | 'proxy';

/** A setting that flags and variables can give. Help, manual, schema and documents all come from its row. */
export interface Option {
  readonly flag: `--${string}`;
  /** The flag's argument, as help shows it. A flag without an argument is a switch. */
  readonly argument?: string;
  readonly variable: string;
  readonly group: string;
  readonly level: Level;
  readonly help: string;
  /** The value if nothing gives it. */
  readonly default?: string;
  /** What happens without a value, in words, if there is no fixed `default`. */
  readonly otherwise?: string;
  /** The flag may be given several times; the variable has spaces between its values. */
  readonly repeatable?: true;
  /** The value is a secret, or may be one by mistake. Messages never show it. */
  readonly secret?: true;
  /** The relay reads it only when it starts. */
  readonly restart?: true;
  /** What differs in a file, in words; null: a file cannot give it. */
  readonly inFile?: { readonly help?: string; readonly otherwise: string } | null;
  readonly schema: v.GenericSchema<string, unknown>;
}

type Row = Omit<Option, 'flag' | 'argument' | 'variable' | 'group' | 'level'>;

/** Makes the rows of one level: `--flag <argument>`, variable, and the rest. */
export function rowsOf(level: Level) {
  return <const Given extends Row>(term: `--${string}`, variable: string, row: Given) => {
    const [flag = '', argument] = term.split(' ');
    return { flag: flag as `--${string}`, ...(argument && { argument }), variable, level, ...row };
  };
}

/** Gives rows the heading under which help lists them. */
export function group<const Rows extends Readonly<Record<string, Omit<Option, 'group'>>>>(
  name: string,
  rows: Rows,
): { readonly [Name in keyof Rows]: Rows[Name] & { readonly group: string } } {
  const grouped = Object.entries(rows).map(([key, row]) => [key, { ...row, group: name }]);
  return Object.fromEntries(grouped);
}
