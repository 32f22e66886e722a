import type * as v from 'valibot';

/** Where a setting applies: to the whole relay, or to an entry of a map or list in the file. */
export type Level = 'relay' | 'providers' | 'front-ends' | 'proxy' | 'allow' | 'clients';

/** A setting. File, help, manual, schema and documents all come from its row. */
export interface Setting {
  readonly level: Level;
  /** Its key in a file: its flag without dashes, in the plural if it can be repeated. */
  readonly key: string;
  /** The argument, as help shows it. A setting without an argument is a switch. */
  readonly argument?: string;
  readonly help: string;
  /** The value if nothing gives it. */
  readonly default?: string;
  /** What happens without a value, in words, if there is no fixed `default`. */
  readonly otherwise?: string;
  /** The flag may be given several times; the variable has spaces between its values. `lines`: values may have spaces. */
  readonly repeatable?: true | 'lines';
  /** What joins the list of a file to the one text that the flag takes. */
  readonly separator?: ' ' | ',';
  /** The value is a secret, or may be one by mistake. Messages never show it. */
  readonly secret?: true;
  /** Messages leave the value out: the place in the file is enough. */
  readonly unquoted?: true;
  /** The relay reads it only when it starts; `presence`: whether it is there. */
  readonly restart?: true | 'presence';
  /** What differs in a file, in words; null: a file cannot give it. */
  readonly inFile?: { readonly help?: string; readonly otherwise: string } | null;
  readonly schema: v.GenericSchema<string, unknown>;
}

/** A setting that flags and variables can give. */
export interface Option extends Setting {
  readonly flag: `--${string}`;
  readonly variable: string;
  readonly group: string;
}

type Row = Omit<Setting, 'level' | 'key' | 'argument'>;

/** Makes the rows of one level that flags can give: `--flag <argument>`, variable, and the rest. */
export function rowsOf<const At extends Level>(level: At) {
  return <const Given extends Row>(term: `--${string}`, variable: string, row: Given) => {
    const [flag = '', argument] = term.split(' ');
    const key = flag.slice(2) + (row.repeatable ? 's' : '');
    const named = { flag: flag as `--${string}`, ...(argument && { argument }), key };
    return { ...named, variable, level, ...row };
  };
}

/** Makes the rows of one level that only a file can give: `key <argument>`, and the rest. */
export function fileRowsOf<const At extends Level>(level: At) {
  return <const Given extends Row>(term: string, row: Given) => {
    const [key = '', argument = ''] = term.split(' ');
    return { key, argument, level, ...row };
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
