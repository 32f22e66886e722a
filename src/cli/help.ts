import { styleText } from 'node:util';
import type { Argument, Command, Option as Flag, Help } from 'commander';
import { wrap } from '../check/wrap.ts';
import { options } from '../config/settings/settings.ts';

const widest = 100;
/** Below this width, a description starts on a line of its own. */
const narrowest = 70;

const ownOptions = 'Options:';

/** The options that the guides use. The help of a command that takes all options shows only these. */
const usual = [
  ...[options.origin, options.clientId, options.clientSecretFile, options.baseUrl, options.port],
  ...[options.trustedProxies, options.tokenDelivery, options.errorDelivery, options.provider],
  ...[options.issuer, options.scope, options.keyFile, options.config],
];

type Item = readonly [term: string, description: string];

/** How `--help` looks: commands first, then each group of options; no line breaks inside a word. */
export const helpLayout: Partial<Help> = {
  subcommandTerm(command) {
    return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
  },
  formatHelp(command, help) {
    const width = helpWidth(help);
    const commands = help
      .visibleCommands(command)
      .map((one): Item => [help.subcommandTerm(one), help.subcommandDescription(one)]);
    const flags = help.visibleOptions(command);
    const takesAll = flags.filter(isOfRelay).length === Object.keys(options).length;
    return [
      `${heading('Usage:')} ${wrap(help.commandUsage(command), width - 7).join('\n       ')}`,
      wrap(command.description(), width).join('\n'),
      ...section('Commands:', commands, widestTerm(commands), width),
      ...(takesAll ? usualSection(flags, help) : optionSections(flags, help)),
    ]
      .join('\n\n')
      .concat('\n');
  },
};

/** What `login-relay help options` prints: every option of the relay, with its variable and default. */
export function optionsHelp(
  program: Command,
  width = program.configureOutput().getOutHelpWidth?.() ?? 80,
): string {
  const help = program.createHelp();
  help.prepareContext({ helpWidth: width });
  const all = help.visibleOptions(program).filter(isOfRelay);
  return optionSections(all, help).join('\n\n').concat('\n');
}

/** One list of the usual options, without variables and defaults, and of the command's own ones. */
function usualSection(flags: readonly Flag[], help: Help): readonly string[] {
  const shown = [...usual]
    .map(({ flag, argument, help: text }): Item => [`${flag} ${argument}`, text])
    .concat(flags.filter((flag) => !isOfRelay(flag)).map((flag) => item(flag, help)));
  return [
    ...section(ownOptions, shown, widestTerm(shown), helpWidth(help)),
    wrap('login-relay help options explains all options.', helpWidth(help)).join('\n'),
  ];
}

const isOfRelay = ({ helpGroupHeading }: Flag) => helpGroupHeading !== undefined;

const item = (flag: Flag, help: Help): Item => [
  help.optionTerm(flag),
  help.optionDescription(flag),
];

function helpWidth({ helpWidth = 80 }: Help): number {
  return Math.min(helpWidth, widest);
}

/** The name of what a command takes: `<shell>` if it is required, `[command]` if not. */
function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function optionSections(flags: readonly Flag[], help: Help): readonly string[] {
  const groups = Map.groupBy(flags, ({ helpGroupHeading = ownOptions }) => helpGroupHeading);
  const termWidth = widestTerm(flags.map((flag) => item(flag, help)));
  return [...groups].flatMap(([name, members], index) => {
    const title = index > 0 && name === ownOptions ? 'Other:' : name;
    const items = members.map((flag) => item(flag, help));
    return section(title, items, termWidth, helpWidth(help));
  });
}

function widestTerm(items: readonly Item[]): number {
  return Math.max(...items.map(([term]) => term.length));
}

function section(
  name: string,
  items: readonly Item[],
  termWidth: number,
  width: number,
): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.flatMap(([term, description]) => {
    if (width < narrowest) return [`  ${term}`, ...indented(description, 6, width)];
    const [first = '', ...rest] = indented(description, termWidth + 4, width);
    return [`  ${term.padEnd(termWidth)}  ${first.trimStart()}`, ...rest];
  });
  return [[heading(name), ...lines].join('\n')];
}

function indented(text: string, indent: number, width: number): string[] {
  return wrap(text, width - indent).map((line) => ' '.repeat(indent) + line);
}

function heading(text: string): string {
  return styleText('bold', text);
}
