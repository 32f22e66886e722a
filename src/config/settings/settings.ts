import type * as v from 'valibot';
import * as schemas from '../schemas.ts';
import { apiMethods, apiPath, apiRequestHeaders, apiUrl } from '../schemas-api.ts';
import { frontEndRows, protectionRows, providerRows, requiredRows } from './login.ts';
import { configFileRows, listeningRows, observabilityRows } from './relay.ts';
import type { Level, Option } from './setting.ts';

/** Every setting that flags can give, in the order of the help. */
export const options = {
  ...requiredRows,
  ...listeningRows,
  ...frontEndRows,
  ...providerRows,
  ...protectionRows,
  ...observabilityRows,
  ...configFileRows,
} as const satisfies Record<string, Option>;

/** The settings that only a file can give: flags describe one provider and one front end. */
export const fileOnly = {
  'front-ends': {
    providers: {
      argument: '<names>',
      help: 'names of the providers that the front end may use',
      otherwise: 'all',
      repeatable: true,
      schema: schemas.names,
    },
    scope: {
      argument: '<scopes>',
      help: 'scopes that the front end may request, and gets if it requests none',
      otherwise: "the provider's",
      schema: schemas.scope,
    },
  },
  proxy: {
    path: {
      argument: '<path>',
      help: 'path of the relay; requests below it go to the provider with the access token of the session',
      otherwise: 'required',
      schema: apiPath,
    },
    url: {
      argument: '<url>',
      help: 'URL that takes the place of the path; it ends with a slash',
      otherwise: 'required',
      schema: apiUrl,
    },
    methods: {
      argument: '<methods>',
      help: 'methods that are passed on: GET, HEAD, POST, PUT, PATCH, DELETE',
      otherwise: 'GET and HEAD',
      repeatable: true,
      schema: apiMethods,
    },
    'request-headers': {
      argument: '<names>',
      help: 'further request headers that are passed on, such as X-Goog-Api-Key',
      otherwise: 'those that APIs usually need',
      repeatable: true,
      schema: apiRequestHeaders,
    },
    provider: {
      argument: '<name>',
      help: 'provider whose access tokens go to the URL',
      otherwise: 'required if the front end may use several providers',
      schema: schemas.pathSegment,
    },
  },
} as const satisfies Partial<Record<Level, Record<string, FileOnly>>>;

type FileOnly = Omit<Option, 'flag' | 'variable' | 'group' | 'level'>;

/** The name of a setting that a file can give. */
export type SettingName =
  | OptionName
  | keyof (typeof fileOnly)['front-ends']
  | keyof (typeof fileOnly)['proxy'];

/** A setting of the file. */
export interface FileSetting extends FileOnly {
  readonly name: SettingName;
  /** Its key in the file: its flag without dashes, in the plural if it takes a list. */
  readonly key: string;
  /** The option that gives the same; undefined: only a file can give it. */
  readonly option: OptionName | undefined;
}

/** The settings of each level, in the order of the help. */
export const fileSettings: Readonly<Record<Level, readonly FileSetting[]>> = {
  relay: settingsOf('relay'),
  providers: settingsOf('providers'),
  'front-ends': [...settingsOf('front-ends'), ...fileOnlyOf(fileOnly['front-ends'])],
  proxy: fileOnlyOf(fileOnly.proxy),
};

function settingsOf(level: Level): FileSetting[] {
  return (Object.keys(options) as OptionName[]).flatMap((name) => {
    const option: Option = options[name];
    if (option.level !== level || option.inFile === null) return [];
    const key = option.flag.slice(2) + (option.repeatable ? 's' : '');
    return [{ ...option, ...option.inFile, name, key, option: name }];
  });
}

function fileOnlyOf(rows: Readonly<Record<string, FileOnly>>): FileSetting[] {
  return Object.entries(rows).map(([name, row]) => {
    return { ...row, name: name as SettingName, key: name, option: undefined };
  });
}

/** Whether a setting belongs to a level. */
export function isSettingOf(level: Level, name: string): boolean {
  return fileSettings[level].some((setting) => setting.name === name);
}

/** The name of an option. Commander uses the same name for the flag's value. */
export type OptionName = keyof typeof options;

/** The parsed value of each option that has one. */
export type OptionValues = {
  readonly [Name in OptionName]?: v.InferOutput<(typeof options)[Name]['schema']> | undefined;
};

/** The same, once no fault was reported: a setting with a default has a value. */
export type CompleteValues = {
  readonly [Name in OptionName]:
    | v.InferOutput<(typeof options)[Name]['schema']>
    | ((typeof options)[Name] extends { readonly default: string } ? never : undefined);
};

/** Names an option for people: its flag and its variable. */
export function describeOption(name: OptionName): string {
  return `${options[name].flag} (${options[name].variable})`;
}
