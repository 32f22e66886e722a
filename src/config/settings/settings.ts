import type * as v from 'valibot';
import { allowRows, clientRows } from './access.ts';
import { apiRows } from './apis.ts';
import { frontEndFileRows, frontEndRows, requiredFrontEndRows } from './front-end.ts';
import { protectionRows, providerRows, requiredProviderRows } from './provider.ts';
import { configFileRows, listeningRows, observabilityRows, sharedMemoryRows } from './relay.ts';
import type { Level, Option, Setting } from './setting.ts';

/** Every setting that flags can give, in the order of the help. */
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

/** Every setting. Flags describe one provider and one front end, so some are for files only. */
export const settings = {
  ...options,
  ...frontEndFileRows,
  ...apiRows,
  ...allowRows,
  ...clientRows,
} as const satisfies Record<string, Setting>;

/** The name of an option. Commander uses the same name for the flag's value. */
export type OptionName = keyof typeof options;

/** The name of a setting. */
export type SettingName = keyof typeof settings;

export const optionNames = Object.keys(options) as OptionName[];
const settingNames = Object.keys(settings) as SettingName[];

type Output<Name extends SettingName> = v.InferOutput<(typeof settings)[Name]['schema']>;

/** The parsed value of each setting that has one. */
export type Values = { readonly [Name in SettingName]?: Output<Name> | undefined };

type NameAt<At extends Level> = {
  [Name in SettingName]: (typeof settings)[Name]['level'] extends At ? Name : never;
}[SettingName];

/** The names of the settings of a level. */
export function namesAt<At extends Level>(level: At): NameAt<At>[] {
  return settingNames.filter((name): name is NameAt<At> => settings[name].level === level);
}

type AlwaysThere = { readonly default: string } | { readonly otherwise: 'required' };

/** The values of a level, once no fault was reported: a setting that is required or has a default has one. */
export type CompleteValues<At extends Level> = {
  readonly [Name in NameAt<At>]:
    | Output<Name>
    | ((typeof settings)[Name] extends AlwaysThere ? never : undefined);
};

/** A setting as a file gives it. */
export interface FileSetting extends Setting {
  readonly name: SettingName;
}

/** The settings that a file can give at each level, in the order of the help. */
export const fileSettings = Object.groupBy(
  settingNames.flatMap((name): FileSetting[] => {
    const row: Setting = settings[name];
    return row.inFile === null ? [] : [{ ...row, ...row.inFile, name }];
  }),
  ({ level }) => level,
) as Readonly<Record<Level, readonly FileSetting[]>>;

/** Names a setting for people: its flag and its variable, or its key if only a file can give it. */
export function describeOption(name: SettingName): string {
  const row: Setting | Option = settings[name];
  return 'flag' in row ? `${row.flag} (${row.variable})` : row.key;
}
