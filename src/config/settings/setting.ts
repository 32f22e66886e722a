import type * as v from 'valibot';
import { limits } from '../../limits.ts';
import { endpointNames } from '../../paths.ts';

/** The part of the configuration that a setting applies to: the whole relay, or a map of the file. */
export type Level =
  | 'relay'
  | 'providers'
  | 'resources'
  | 'front-ends'
  | 'proxy'
  | 'allow'
  | 'browser'
  | 'clients'
  | 'pages'
  | 'texts';

/** The form of a level in the file. The parser, the JSON Schema and the printed file use it. */
interface LevelInFile {
  /** The levels whose maps can be inside its maps. */
  readonly innerLevels?: readonly Level[];
  /** A list of maps, or a map of named maps. By default, one map. */
  readonly shape?: 'list' | 'named';
  readonly maxEntries?: number;
  readonly help: string;
  /** The fault if it has another shape. */
  readonly otherShape: string;
  /** The fault if it is empty; undefined if it may be empty. */
  readonly empty?: string;
  /** Whether `true` stands for the map without any setting, and `false` for no map. */
  readonly isSwitch?: true;
  /** The fault for a setting of this level in the wrong place. */
  readonly misplaced: string;
  /** Names that no entry can have, because they are endpoints below `/auth/<provider>/`. */
  readonly takenNames?: readonly string[];
}

/** Whether faults at a level are only warnings, because a new version may have other texts of pages. */
export const isLenient = (level: Level): boolean => level === 'texts';

const named = {
  shape: 'named',
  otherShape: 'is not a map of names, each with its settings',
  empty: 'has no entries',
} as const;

export const levels: Readonly<Record<Level, LevelInFile>> = {
  relay: {
    innerLevels: ['providers', 'resources', 'front-ends', 'pages'],
    help: 'login-relay configuration',
    otherShape: 'is not a map of settings, such as port: 8000',
    misplaced: 'belongs to the whole relay: move it to the top of the file, without indentation',
  },
  providers: {
    innerLevels: ['allow'],
    ...named,
    maxEntries: limits.registrations,
    help: 'The providers. The name of an entry is the word in /auth/<word> and /auth/<word>/callback.',
    misplaced: 'belongs to a provider: move it into an entry of providers',
  },
  'front-ends': {
    innerLevels: ['proxy', 'allow', 'clients'],
    ...named,
    maxEntries: limits.frontEnds,
    help: 'The front ends. The name of an entry is its client_id.',
    misplaced: 'belongs to a front end: move it into an entry of front-ends',
    takenNames: endpointNames.always,
  },
  proxy: {
    shape: 'list',
    maxEntries: limits.apisOfFrontEnd,
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
    innerLevels: ['texts'],
    help: "How the relay's own pages look and speak.",
    otherShape: 'is not a map, such as name: Example',
    misplaced: 'belongs to the pages of the relay: move it into pages',
  },
  texts: {
    help: 'Texts in place of those that login-relay pages prints, by their keys.',
    otherShape: 'is not a map of texts by the keys that login-relay pages prints',
    misplaced: 'is a text of a page: move it into texts, in pages',
  },
  browser: {
    help: 'Whether browsers open it with a cookie after a login, and for how long. Default: only programs with a token do.',
    otherShape: 'is neither true nor a map, such as lifetime: 720',
    isSwitch: true,
    misplaced: 'belongs to browsers: move it into browser, in a resource',
  },
  resources: {
    innerLevels: ['allow', 'browser'],
    ...named,
    maxEntries: limits.resources,
    help: 'What logins may be for besides the API of the provider: APIs of your own, MCP servers.',
    misplaced: 'belongs to a resource: move it into an entry of resources',
  },
};

/** A setting. File, help, manual, schema and documents all use this row. */
export interface Setting {
  /** The key in a file: the flag without dashes, in the plural if it can be repeated. */
  readonly key: string;
  /** The argument in the help. A setting without an argument is a switch. */
  readonly argument?: string;
  readonly help: string;
  readonly default?: string;
  /** The default in words, for the help, if there is no fixed `default`. If it is left out, the help says `none`. */
  readonly otherwise?: string;
  /** The flag can be repeated; the variable has spaces between its values. With `lines`, values may contain spaces. */
  readonly repeatable?: true | 'lines';
  /** A list of one means something else than the value alone. */
  readonly distinguishesList?: true;
  /** The file has a map. Each text is `key: value`. */
  readonly map?: true;
  /** Joins the list of a file into the one text that the flag takes. */
  readonly separator?: ' ' | ',';
  /** Other names that people write by mistake, if they are very different from the key. */
  readonly aliases?: readonly string[];
  /** The value is a secret, or may be one by mistake. Messages never show it. */
  readonly secret?: true;
  /** A text for people, or a document of another format, whose form is not checked. */
  readonly isFreeText?: true;
  /** Messages do not quote the value, because the place in the file is enough. */
  readonly unquoted?: true;
  /** The relay reads it only when it starts. `presence`: only whether it is set. */
  readonly restart?: true | 'presence';
  /** It is an address, or contains one. http:// must lead to this machine unless `--insecure-http` is set. */
  readonly isAddress?: true;
  /** What the help says differently for a configuration file; null if a file cannot give this setting. */
  readonly inFile?: { readonly help?: string; readonly otherwise: string } | null;
  readonly schema: v.GenericSchema<string, unknown>;
}

/** A setting that a flag or a variable can give. */
export interface Option extends Setting {
  readonly level: Level;
  readonly flag: `--${string}`;
  readonly variable: string;
  readonly group: string;
  /** Its position in the help of commands with all options; undefined if that help leaves it out. */
  readonly helpPosition?: number;
  /** Options that cannot be given together with this option. Each of them lists this option in return. */
  readonly excludes?: readonly string[];
}

type FileRow = Omit<Setting, 'key' | 'argument' | 'schema'>;
type Row = FileRow & Pick<Option, 'helpPosition' | 'excludes'>;

/**
 * Creates a function that makes rows of options at one level. It derives flag, argument and key from a term such as
 * `--port <number>`.
 *
 * @param shared what all these rows have
 */
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

/** Creates a function that makes rows of settings that only a file can give. @param shared what all these rows have */
export function createFileRowMaker(shared: Partial<FileRow> = {}) {
  return <Schema extends Setting['schema'], const Given extends FileRow>(key: string, schema: Schema, row: Given) => ({
    key,
    schema,
    ...shared,
    ...row,
  });
}

/** Adds the heading under which help lists the rows. */
export function addGroup<const Rows extends Readonly<Record<string, Omit<Option, 'group'>>>>(
  name: string,
  rows: Rows,
): { readonly [Name in keyof Rows]: Rows[Name] & { readonly group: string } } {
  const grouped = Object.entries(rows).map(([key, row]) => [key, { ...row, group: name }]);
  return Object.fromEntries(grouped);
}

/** Whether a setting accepts a list in a file. */
export const takesList = ({ separator, repeatable }: Setting): boolean =>
  repeatable !== undefined || separator !== undefined;
