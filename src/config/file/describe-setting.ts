import type { FileSetting } from '../settings/settings.ts';

/** What a setting means, and what happens without it: one paragraph for people. */
export function describeForFile(setting: FileSetting): string {
  return [sentence(setting.help), ...consequence(setting)].join(' ');
}

/** The default of a setting, if it is always the same. */
export function fixedDefault(setting: FileSetting): string | undefined {
  return setting.otherwise === undefined ? setting.default : undefined;
}

function consequence({ otherwise }: FileSetting): string[] {
  if (otherwise === undefined) return [];
  return [otherwise.startsWith('required') ? sentence(otherwise) : `Default: ${otherwise}.`];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
