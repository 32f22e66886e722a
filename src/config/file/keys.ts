import type { Option } from '../option.ts';
import { type OptionName, options } from '../options.ts';
import { apiProxyOptions } from '../sections/api-proxy.ts';
import { frontEndOptions, requiredFrontEndOptions } from '../sections/front-end.ts';
import { frontEndAccessOptions } from '../sections/front-end-access.ts';
import { providerOptions } from '../sections/provider.ts';
import { requiredRegistrationOptions } from '../sections/registration.ts';
import type { FileEntry, SettingName } from './config-file.ts';

/** A map of the file that has settings: the file itself, an entry of one of its two maps, or an entry of `proxy`. */
export type Level = 'relay' | FileEntry['kind'] | 'proxy';

/** A setting of the file. */
export interface FileSetting extends Omit<Option, 'flag' | 'variable' | 'group'> {
  readonly name: SettingName;
  /** Its key in the file. */
  readonly key: string;
  /** The option that gives the same; undefined: only a file can give it. */
  readonly option: OptionName | undefined;
}

const relayWide: readonly string[] = ['providerTimeout'];

const ofProviders: readonly string[] = [
  ...Object.keys({ ...requiredRegistrationOptions, ...providerOptions }),
  'stateCheck',
].filter((name) => !relayWide.includes(name));

const ofFrontEnds: readonly string[] = Object.keys({
  ...requiredFrontEndOptions,
  ...frontEndOptions,
});

/** What a file does not have: the word in a path is the name of an entry. */
const notInFile: readonly string[] = ['pathName', 'config'];

/** What differs in a file, in words. */
const inFile: Readonly<Partial<Record<OptionName, Pick<Option, 'help' | 'otherwise'>>>> = {
  clientSecretFile: {
    help: 'file that holds the client secret',
    otherwise: 'required, except with the systemd credential <name>-client-secret',
  },
  provider: {
    help: 'provider preset; login-relay providers lists them',
    otherwise: 'the preset that has the name of the entry, else github',
  },
  stateCheck: {
    help: options.stateCheck.help,
    otherwise:
      'browsers; always if a front end of the provider has the token delivery code, session or cms',
  },
  redirectUri: {
    help: 'pages inside the origin that OAuth logins may return to',
    otherwise: 'the front end URL',
  },
};

/** The settings of each level, in the order of the help. */
export const fileSettings: Readonly<Record<Level, readonly FileSetting[]>> = {
  relay: settingsOf((name) => ![...ofProviders, ...ofFrontEnds].includes(name)),
  providers: settingsOf((name) => ofProviders.includes(name)),
  'front-ends': [
    ...settingsOf((name) => ofFrontEnds.includes(name)),
    { name: 'providers', key: 'providers', option: undefined, ...frontEndAccessOptions.providers },
    { name: 'scope', key: 'scope', option: undefined, ...frontEndAccessOptions.scope },
  ],
  proxy: [
    { name: 'path', key: 'path', option: undefined, ...apiProxyOptions.path },
    { name: 'url', key: 'url', option: undefined, ...apiProxyOptions.url },
    { name: 'methods', key: 'methods', option: undefined, ...apiProxyOptions.methods },
    {
      name: 'request-headers',
      key: 'request-headers',
      option: undefined,
      ...apiProxyOptions['request-headers'],
    },
    { name: 'provider', key: 'provider', option: undefined, ...apiProxyOptions.provider },
  ],
};

function settingsOf(belongs: (name: string) => boolean): FileSetting[] {
  const names = Object.keys(options) as OptionName[];
  return names
    .filter((name) => belongs(name) && !notInFile.includes(name))
    .map((name) => {
      const option: Option = options[name];
      return { name, key: keyOf(option), option: name, ...option, ...inFile[name] };
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

/** Whether a setting belongs to a level. */
export function isSettingOf(level: Level, name: string): boolean {
  return fileSettings[level].some((setting) => setting.name === name);
}
