import { styleText } from 'node:util';
import type { Argument, Command, Help } from 'commander';
import { wrap } from '../check/wrap.ts';

const widest = 100;
/** Below this width, a description starts on a line of its own. */
const narrowest = 70;

const ownOptions = 'Options:';

type Item = readonly [term: string, description: string];

/** How `--help` looks: commands first, then each group of options; no line breaks inside a word. */
export const helpLayout: Partial<Help> = {
  subcommandTerm(command) {
    return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
  },
  formatHelp(command, help) {
    const width = Math.min(help.helpWidth ?? 80, widest);
    const groups = optionGroups(command, help);
    const optionWidth = widestTerm([...groups.values()].flat());
    const commands = help
      .visibleCommands(command)
      .map((one): Item => [help.subcommandTerm(one), help.subcommandDescription(one)]);
    return [
      `${heading('Usage:')} ${wrap(help.commandUsage(command), width - 7).join('\n       ')}`,
      wrap(command.description(), width).join('\n'),
      ...section('Commands:', commands, widestTerm(commands), width),
      ...[...groups].flatMap(([name, items], index) =>
        section(index > 0 && name === ownOptions ? 'Other:' : name, items, optionWidth, width),
      ),
    ]
      .join('\n\n')
      .concat('\n');
  },
};

/** The name of what a command takes: `<shell>` if it is required, `[command]` if not. */
export function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function optionGroups(command: Command, help: Help): Map<string, Item[]> {
  const groups = Map.groupBy(
    help.visibleOptions(command),
    ({ helpGroupHeading }) => helpGroupHeading ?? ownOptions,
  );
  return new Map(
    [...groups].map(([name, options]) => [
      name,
      options.map((option): Item => [help.optionTerm(option), help.optionDescription(option)]),
    ]),
  );
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
