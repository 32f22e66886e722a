import type { Option } from './settings/setting.ts';
import { describeOption, type OptionName, options } from './settings/settings.ts';
import { type OptionSources, textsOf } from './sources.ts';

const longest = 100;

/**
 * Describes a fault of an option for the operator: flag, variable, given value, and what is wrong with it.
 *
 * The value is left out if it is a secret or may contain one.
 *
 * @param described the name of the setting; by default, its flag and its variable
 */
export function describeFault(
  name: OptionName,
  message: string,
  sources: OptionSources,
  described: string = describeOption(name),
): string {
  const option: Option = options[name];
  const [value = '', ...more] = textsOf(name, sources) ?? [];
  const isShown = value !== '' && more.length === 0 && !option.secret && !maybeSecret(value);
  return [described, ...(isShown ? [quoted(value)] : []), message].join(' ');
}

/** Whether the value may contain a password, or be a secret that was given for the wrong option. */
function maybeSecret(value: string): boolean {
  const words = value.match(/[\w~+=-]{16,}/g) ?? [];
  const mixed = words.some((word) => /\d/.test(word) && /[a-z]/i.test(word));
  // Dots and slashes are in secrets too. Host names and paths in lower case are not secrets.
  const longer = value.match(/[\w~+=./-]{16,}/g) ?? [];
  return (
    value.includes('@') || mixed || longer.some((run) => /[A-Z]/.test(run) && /[a-z]/.test(run))
  );
}

/** The value in quotes, on one line, without a query or fragment: both can carry secrets. */
function quoted(value: string): string {
  const visible = value.replace(/[?#].*/s, '…');
  const short = visible.length > longest ? `${visible.slice(0, longest)}…` : visible;
  // Control and formatting characters could change what a terminal shows.
  return JSON.stringify(short).replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}
