import type { Option } from '../option.ts';
import { type OptionName, options } from '../options.ts';
import { frontEndOptions, requiredFrontEndOptions } from '../sections/front-end.ts';
import { frontEndAccessOptions } from '../sections/front-end-access.ts';
import { providerOptions } from '../sections/provider.ts';
import { requiredRegistrationOptions } from '../sections/registration.ts';
import type { FileEntry, SettingName } from './config-file.ts';

/** A map of the file that has settings: the file itself, or an entry of one of its two maps. */
export type Level = 'relay' | FileEntry['kind'];

/** A setting of the file. */
export interface FileSetting extends Omit<Option, 'flag' | 'variable' | 'group'> {
  readonly name: SettingName;
  /** Its key in the file. */
  readonly key: string;
}

const { providerTimeout: _, ...ofOneProvider } = providerOptions;

const namesOfProviders: readonly string[] = [
  ...Object.keys({ ...requiredRegistrationOptions, ...ofOneProvider }),
  'stateCheck',
] satisfies OptionName[] | string[];

const namesOfFrontEnds: readonly string[] = Object.keys({
  ...requiredFrontEndOptions,
  ...frontEndOptions,
});

/** What a file gives in another way: the word in the path is the name of the entry. */
const namedByEntry: readonly string[] = ['pathName'] satisfies OptionName[];

/** The settings of each level, in the order of the help. */
export const fileSettings: Readonly<Record<Level, readonly FileSetting[]>> = {
  relay: settingsOf(
    (name) => ![...namesOfProviders, ...namesOfFrontEnds, ...namedByEntry].includes(name),
  ),
  providers: settingsOf((name) => namesOfProviders.includes(name)),
  'front-ends': [
    ...settingsOf((name) => namesOfFrontEnds.includes(name)),
    { name: 'providers', key: 'providers', ...frontEndAccessOptions.providers },
    { name: 'scope', key: 'scope', ...frontEndAccessOptions.scope },
  ],
};

function settingsOf(belongs: (name: string) => boolean): FileSetting[] {
  return (Object.keys(options) as OptionName[]).filter(belongs).map((name) => {
    const option: Option = options[name];
    return { name, key: keyOf(option), ...option };
  });
}

/** The key of an option in a file: its flag without dashes, in the plural if it takes a list. */
function keyOf({ flag, repeatable }: Option): string {
  return flag.slice(2) + (repeatable ? 's' : '');
}

/** The setting that a key names in a level. */
export function settingOf(level: Level, key: string): FileSetting | undefined {
  return fileSettings[level].find((setting) => setting.key === key);
}
