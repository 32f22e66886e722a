import type * as v from 'valibot';
import { limits } from '../../limits.ts';
import { endpointNames } from '../../paths.ts';

/** Where a setting applies: to the whole relay, or to a map of the file with the settings of something else. */
export type Level =
  | 'relay'
  | 'providers'
  | 'resources'
  | 'front-ends'
  | 'proxy'
  | 'allow'
  | 'clients'
  | 'pages'
  | 'texts';

/** What a key with the name of a level can hold, besides the settings of the level. Parser, schema and print of the file use it. */
interface LevelInFile {
  /** The levels that its maps can hold, under their names. */
  readonly holds?: readonly Level[];
  /** A list of maps of settings, or such maps by their names. By default, it is one map. */
  readonly shape?: 'list' | 'named';
  /** How many entries it can have, if it has a shape. */
  readonly most?: number;
  readonly help: string;
  /** The fault if it holds something else. */
  readonly otherShape: string;
  /** The fault if it is empty. Undefined: it may be. */
  readonly empty?: string;
  /** The fault of a setting of this level that is elsewhere. */
  readonly misplaced: string;
  /** Endpoints after `/auth/<provider>/`: no entry can have their names. */
  readonly takenNames?: readonly string[];
}

/** Whether faults at a level are warnings only: each version of the relay has other texts of pages. */
export const isLenient = (level: Level): boolean => level === 'texts';

const named = {
  shape: 'named',
  otherShape: 'is not a map of names, each with its settings',
  empty: 'has no entries',
} as const;

export const levels: Readonly<Record<Level, LevelInFile>> = {
  relay: {
    holds: ['providers', 'resources', 'front-ends', 'pages'],
    help: 'login-relay configuration',
    otherShape: 'is not a map of settings, such as port: 8000',
    misplaced: 'belongs to the whole relay: move it to the top of the file, without indentation',
  },
  providers: {
    holds: ['allow'],
    ...named,
    most: limits.registrations,
    help: 'The providers. The name of an entry is the word in /auth/<word> and /auth/<word>/callback.',
    misplaced: 'belongs to a provider: move it into an entry of providers',
  },
  'front-ends': {
    holds: ['proxy', 'allow', 'clients'],
    ...named,
    most: limits.frontEnds,
    help: 'The front ends. The name of an entry is its client_id.',
    misplaced: 'belongs to a front end: move it into an entry of front-ends',
    takenNames: endpointNames.always,
  },
  proxy: {
    shape: 'list',
    most: limits.apisOfFrontEnd,
    help: "Parts of a provider's API that a page with a session may use.",
    otherShape: 'is not a list of maps, each with path and url',
    empty: 'is an empty list',
    misplaced: 'belongs to an API: move it into an entry of proxy, in a front end',
  },
  allow: {
    help: 'Who may log in: one match is enough. Default: everybody.',
    otherShape: 'is not a map of rules, such as users: [octocat]',
    // Without a rule, everybody could log in.
    empty: 'has no rule',
    misplaced: 'says who may log in: move it into allow, in a provider, a resource or a front end',
  },
  clients: {
    help: 'The programs that may log in here without an entry of their own.',
    otherShape: 'is not a map, such as registration: true',
    misplaced: 'belongs to clients that nobody registered: move it into clients, in a front end',
  },
  pages: {
    holds: ['texts'],
    help: "How the relay's own pages look and speak.",
    otherShape: 'is not a map, such as name: Example',
    misplaced: 'belongs to the pages of the relay: move it into pages',
  },
  texts: {
    help: 'Texts in place of those that login-relay pages prints, by their keys.',
    otherShape: 'is not a map of texts by the keys that login-relay pages prints',
    misplaced: 'is a text of a page: move it into texts, in pages',
  },
  resources: {
    holds: ['allow'],
    ...named,
    most: limits.resources,
    help: 'What logins may be for besides the API of the provider: APIs of your own, MCP servers.',
    misplaced: 'belongs to a resource: move it into an entry of resources',
  },
};

/** A setting. File, help, manual, schema and documents all come from its row. */
export interface Setting {
  /** Its key in a file: its flag without dashes, in the plural if it can be repeated. */
  readonly key: string;
  /** The argument, as help shows it. A setting without an argument is a switch. */
  readonly argument?: string;
  readonly help: string;
  readonly default?: string;
  /** What happens without a value, in words, if there is no fixed `default` and it is not just `none`. */
  readonly otherwise?: string;
  /** The flag may be given several times; the variable has spaces between its values. `lines`: values may have spaces. */
  readonly repeatable?: true | 'lines';
  /** The file holds a map. Each text is one of its keys and the value, with a colon and a space between them. */
  readonly map?: true;
  /** What joins the list of a file to the one text that the flag takes. */
  readonly separator?: ' ' | ',';
  /** What people write in its place, if it is far from the key. */
  readonly aliases?: readonly string[];
  /** The value is a secret, or may be one by mistake. Messages never show it. */
  readonly secret?: true;
  /** It is a text for people or a document of another format: its form says nothing. */
  readonly isFreeText?: true;
  /** Messages leave the value out: the place in the file is enough. */
  readonly unquoted?: true;
  /** The relay reads it only when it starts; `presence`: whether it is there. */
  readonly restart?: true | 'presence';
  /** It is an address, or has one: http:// only leads to this machine, unless that is allowed. */
  readonly isAddress?: true;
  /** What differs in a file, in words; null: a file cannot give it. */
  readonly inFile?: { readonly help?: string; readonly otherwise: string } | null;
  readonly schema: v.GenericSchema<string, unknown>;
}

/** A setting that flags and variables can give. */
export interface Option extends Setting {
  readonly level: Level;
  readonly flag: `--${string}`;
  readonly variable: string;
  readonly group: string;
  /** Its place in the help of a command that takes all options. Undefined: that help leaves it out. */
  readonly usual?: number;
  /** The names of the options that cannot be given beside it. They name it, too. */
  readonly excludes?: readonly string[];
}

type FileRow = Omit<Setting, 'key' | 'argument' | 'schema'>;
type Row = FileRow & Pick<Option, 'usual' | 'excludes'>;

/** Gives a function that makes the rows of one level which flags can give. @param shared what each of them has */
export function createRowMaker<const At extends Level>(level: At, shared: Partial<Row> = {}) {
  return <Schema extends Setting['schema'], const Given extends Row>(
    term: `--${string}`,
    variable: string,
    schema: Schema,
    row: Given,
  ) => {
    const [flag = '', argument] = term.split(' ');
    const key = flag.slice(2) + (row.repeatable ? 's' : '');
    const terms = { flag: flag as `--${string}`, ...(argument && { argument }), key };
    return { ...terms, variable, level, schema, ...shared, ...row };
  };
}

/** Gives a function that makes rows which only a file can give. @param shared what each of them has */
export function fileRows(shared: Partial<FileRow> = {}) {
  return <Schema extends Setting['schema'], const Given extends FileRow>(key: string, schema: Schema, row: Given) => ({
    key,
    schema,
    ...shared,
    ...row,
  });
}

/** Gives rows the heading under which help lists them. */
export function group<const Rows extends Readonly<Record<string, Omit<Option, 'group'>>>>(
  name: string,
  rows: Rows,
): { readonly [Name in keyof Rows]: Rows[Name] & { readonly group: string } } {
  const grouped = Object.entries(rows).map(([key, row]) => [key, { ...row, group: name }]);
  return Object.fromEntries(grouped);
}

/** Whether a setting takes a list in a file as well as a single value. */
export const takesList = ({ separator, repeatable }: Setting): boolean =>
  repeatable !== undefined || separator !== undefined;
