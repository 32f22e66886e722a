import type * as v from 'valibot';
import { allowRows, clientRows } from './access.ts';
import { apiRows } from './apis.ts';
import { frontEndFileRows, frontEndRows, requiredFrontEndRows } from './front-end.ts';
import { pageRows, textRows } from './pages.ts';
import { personRows } from './person.ts';
import { protectionRows, providerFileRows, providerRows, requiredProviderRows } from './provider.ts';
import { configFileRows, listeningRows, observabilityRows, sharedMemoryRows } from './relay.ts';
import { browserRows, resourceRows } from './resources.ts';
import type { Level, Option, Setting } from './setting.ts';

/** Every setting with a flag, in the order of the help. */
export const options = {
  ...requiredFrontEndRows,
  ...requiredProviderRows,
  ...listeningRows,
  ...frontEndRows,
  ...providerRows,
  ...protectionRows,
  ...sharedMemoryRows,
  ...observabilityRows,
  ...configFileRows,
} as const satisfies Record<string, Option>;

/** The name of an option, which is also Commander's name for the flag's value. */
export type OptionName = keyof typeof options;

export const optionNames = Object.keys(options) as OptionName[];

type Options = typeof options;
type OptionsAt<At extends Level> = {
  readonly [Name in OptionName as Options[Name]['level'] extends At ? Name : never]: Options[Name];
};

function optionsAt<const At extends Level>(level: At): OptionsAt<At> {
  const names = optionNames.filter((name) => options[name].level === level);
  return Object.fromEntries(names.map((name) => [name, options[name]])) as OptionsAt<At>;
}

/** Every setting by level. Flags can describe only one provider and one front end, so that many settings have no flag. */
const settings = {
  relay: optionsAt('relay'),
  providers: { ...optionsAt('providers'), ...providerFileRows, ...personRows },
  resources: resourceRows,
  'front-ends': { ...optionsAt('front-ends'), ...frontEndFileRows },
  proxy: apiRows,
  allow: allowRows,
  browser: browserRows,
  clients: clientRows,
  pages: pageRows,
  texts: textRows,
} as const satisfies Record<Level, Record<string, Setting>>;

type Settings = typeof settings;

/** The name of a setting at a level. */
export type NameAt<At extends Level> = keyof Settings[At] & string;

type Output<Row> = Row extends { readonly schema: infer Schema extends Setting['schema'] }
  ? v.InferOutput<Schema>
  : never;

/** The parsed values of a level's settings. */
export type ValuesAt<At extends Level> = {
  readonly [Name in NameAt<At>]?: Output<Settings[At][Name]> | undefined;
};

type AlwaysThere = { readonly default: string } | { readonly otherwise: 'required' };

/** `ValuesAt` if there is no fault, so that required settings and those with a default have a value. */
export type CompleteValues<At extends Level> = {
  readonly [Name in NameAt<At>]:
    | Output<Settings[At][Name]>
    | (Settings[At][Name] extends AlwaysThere ? never : undefined);
};

/** The names of a level's settings, in the order of the help. */
export const namesAt = <At extends Level>(level: At) => Object.keys(settings[level]) as NameAt<At>[];

/** The names of all settings in the order of the help. The names of options come first. */
export const settingNames = new Set<string>([
  ...optionNames,
  ...Object.values(settings).flatMap((rows) => Object.keys(rows)),
]);

const rows: Readonly<Record<Level, Readonly<Record<string, Setting | Option>>>> = settings;

/** The row of a setting. @throws {Error} if there is none */
export function rowAt(level: Level, name: string): Setting | Option {
  const row = rows[level][name];
  if (row === undefined) throw new Error(`${level} has no setting ${name}`);
  return row;
}

/** A setting that a file can give, with its name in the code. */
export interface FileSetting extends Setting {
  readonly name: string;
}

const levelsInFile = Object.entries(rows).map(([level, rowsOfLevel]) => {
  const possibleInFile = Object.entries(rowsOfLevel).filter(([, { inFile }]) => inFile !== null);
  return [level, possibleInFile.map(([name, row]) => ({ ...row, ...row.inFile, name }))];
});

/** The settings of each level that a file can give, in the order of the help, with their differences in a file. */
export const fileSettings: Readonly<Record<Level, readonly FileSetting[]>> = Object.fromEntries(levelsInFile);

/** Names a setting for people: its flag and its variable, or its key if only a file can give it. */
export const describeRow = (row: Setting | Option): string =>
  'flag' in row ? `${row.flag} (${row.variable})` : row.key;
