import { styleText } from 'node:util';
import type { Argument, Help } from 'commander';
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
    const commands = help
      .visibleCommands(command)
      .map((one): Item => [help.subcommandTerm(one), help.subcommandDescription(one)]);
    const commandWidth = help.longestSubcommandTermLength(command, help);
    const optionWidth = help.longestOptionTermLength(command, help);
    const groups = Map.groupBy(
      help.visibleOptions(command),
      ({ helpGroupHeading }) => helpGroupHeading ?? ownOptions,
    );
    const optionSections = [...groups].flatMap(([name, options], index) => {
      const items = options.map((one): Item => [help.optionTerm(one), help.optionDescription(one)]);
      return section(index > 0 && name === ownOptions ? 'Other:' : name, items, optionWidth, width);
    });
    return [
      `${heading('Usage:')} ${wrap(help.commandUsage(command), width - 7).join('\n       ')}`,
      wrap(command.description(), width).join('\n'),
      ...section('Commands:', commands, commandWidth, width),
      ...optionSections,
    ]
      .join('\n\n')
      .concat('\n');
  },
};

/** The name of what a command takes: `<shell>` if it is required, `[command]` if not. */
export function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
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
