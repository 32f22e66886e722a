import { styleText } from 'node:util';
import { type Command, type Option as Flag, Help } from 'commander';
import { secretVariables } from '../config/secret-variables.ts';
import type { Option } from '../config/settings/setting.ts';
import { options } from '../config/settings/settings.ts';
import { wrap } from './print.ts';

const maxWidth = 100;
/** Below this width, a description starts on a line of its own. */
const minWidthOfColumns = 70;

/** The heading of options that are not settings of the relay. */
const ownOptions = 'Options:';

/** The settings that the guides use. The help of a command with all settings shows only these. */
const usualOptions = Object.values<Option>(options)
  .filter((option) => option.helpPosition !== undefined)
  .sort((first, second) => (first.helpPosition ?? 0) - (second.helpPosition ?? 0));

type Item = readonly [term: string, description: string];

/** The layout of `--help`: commands first, then each group of options, and no line breaks inside words. */
export const helpLayout: Partial<Help> = {
  minWidthToWrap: 1,
  prepareContext({ helpWidth = 80 }) {
    this.helpWidth = Math.min(helpWidth, maxWidth);
  },
  styleTitle: (title) => styleText('bold', title),
  /** The command with its arguments: `<shell>` if required, `[command]` if not. */
  subcommandTerm: (command) => `${command.name()}${command.usage().replace('[options]', '')}`,
  formatItem(term, termWidth, description, help) {
    const width = help.helpWidth ?? maxWidth;
    if (width >= minWidthOfColumns) {
      return Help.prototype.formatItem.call(help, term, termWidth, description, help);
    }
    return [`  ${term}`, ...wrap(description, width - 6).map((line) => `      ${line}`)].join('\n');
  },
  formatHelp(command, help) {
    const width = help.helpWidth ?? maxWidth;
    const commands = help
      .visibleCommands(command)
      .map((inner): Item => [help.subcommandTerm(inner), help.subcommandDescription(inner)]);
    const flags = help.visibleOptions(command);
    // A command with all settings has more options than a person reads, so its help shows only the usual settings.
    const takesAll = flags.filter(isSetting).length === Object.keys(options).length;
    return [
      `${help.styleTitle('Usage:')} ${wrap(help.commandUsage(command), width - 7).join('\n       ')}`,
      '',
      help.boxWrap(command.description(), width),
      '',
      ...formatSection('Commands:', commands, help),
      ...(takesAll ? formatUsualSection(flags, help) : formatOptionSections(flags, help)),
    ].join('\n');
  },
};

/** `login-relay help options`: formats every option of the relay, with its variable and default. */
export function formatAllOptions(
  program: Command,
  width = program.configureOutput().getOutHelpWidth?.() ?? 80,
): string {
  const help = program.createHelp();
  help.prepareContext({ helpWidth: width });
  return formatOptionSections(help.visibleOptions(program).filter(isSetting), help).join('\n');
}

/** `login-relay help environment`: formats the variable and the flag of each setting. */
export function formatVariables(): string {
  const all = Object.values<Option>(options);
  const width = Math.max(...all.map(({ variable }) => variable.length));
  const lines = all.map(({ variable, flag }) => `  ${variable.padEnd(width)}  ${flag}`);
  const secrets = [
    `  ${secretVariables.key.padEnd(width)}  the secret of --key-file itself; a file is safer`,
    `  ${secretVariables.memoryPassword.padEnd(width)}  the password for --shared-memory; a file is safer`,
  ];
  return ['', 'Variables of the options:', ...lines, '', 'Without an option:', ...secrets, ''].join('\n');
}

/** Formats one list of the usual settings, without variables and defaults, and of the command's own options. */
function formatUsualSection(flags: readonly Flag[], help: Help): readonly string[] {
  const settings = usualOptions.map(({ flag, argument, help: text }): Item => [`${flag} ${argument}`, text]);
  const own = flags.filter((flag) => !isSetting(flag)).map(createItemFormatter(help));
  return [
    ...formatSection(ownOptions, [...settings, ...own], help),
    help.boxWrap('login-relay help options explains all options.', help.helpWidth ?? maxWidth),
    '',
  ];
}

/** Whether a flag is a setting of the relay. Only settings have a group. */
const isSetting = ({ helpGroupHeading }: Flag) => helpGroupHeading !== undefined;

const createItemFormatter =
  (help: Help) =>
  (flag: Flag): Item => [help.optionTerm(flag), help.optionDescription(flag)];

/** Formats a section for each group of options, with all descriptions in one column. */
function formatOptionSections(flags: readonly Flag[], help: Help): readonly string[] {
  const groups = Map.groupBy(flags, ({ helpGroupHeading = ownOptions }) => helpGroupHeading);
  const all = flags.map(createItemFormatter(help));
  return [...groups].flatMap(([name, members], index) => {
    const title = index > 0 && name === ownOptions ? 'Other:' : name;
    return formatSection(title, members.map(createItemFormatter(help)), help, all);
  });
}

/** Formats a list with a heading. @param aligned the items of all lists whose descriptions share a column */
function formatSection(title: string, items: readonly Item[], help: Help, aligned = items) {
  const termWidth = Math.max(...aligned.map(([term]) => term.length));
  const lines = items.map(([term, text]) => help.formatItem(term, termWidth, text, help));
  return help.formatItemList(title, lines, help);
}
