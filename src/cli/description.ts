import type { Command, Option as Flag } from 'commander';
import * as schemas from '../config/schemas.ts';
import { acceptedWords } from '../config/schemas.ts';
import type { Option } from '../config/settings/setting.ts';
import { options } from '../config/settings/settings.ts';
import { argumentTerm } from './help.ts';

/** The whole command line as the manual and the completions describe it. */
export type ProgramDescription = ReturnType<typeof describeProgram>;

/** A command: its flags, and the word that it takes besides them, if any. */
export type CommandDescription = ProgramDescription['main'];

/** A flag of a command. */
export type FlagDescription = CommandDescription['flags'][number];

/** Describes the command line as data. */
export function describeProgram(program: Command) {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const names = commands.map((command) => command.name());

  function describeCommand(command: Command) {
    const [argument] = command.registeredArguments;
    return {
      name: command.name(),
      help: command.description(),
      flags: help.visibleOptions(command).map(describeFlag),
      argument: argument && {
        /** Its name, in brackets: `<shell>` if it is required, `[command]` if not. */
        term: argumentTerm(argument),
        /** The words that it accepts. */
        words: argument.argChoices ?? names,
      },
    };
  }

  return {
    /** The program itself, which takes the flags of `serve`. */
    main: describeCommand(program),
    /** Every command, in the order in which help lists them. */
    commands: commands.map(describeCommand),
  };
}

function describeFlag(flag: Flag) {
  const option = optionOf(flag);
  return {
    long: flag.long ?? '',
    short: flag.short,
    /** What the flag takes, in brackets; undefined for a switch. */
    argument: /<.+>/.exec(flag.flags)?.[0],
    help: option?.help ?? flag.description,
    /** Its row in the option table, if it configures the relay. */
    option,
    /** The words that it accepts, if they are known. */
    words: option?.argument === undefined ? [] : acceptedWords(option.schema),
    takesFile: option?.schema === schemas.filePath,
  };
}

// Only the options of the relay have a group. Commands also have other flags.
function optionOf({ long, helpGroupHeading }: Flag): Option | undefined {
  if (helpGroupHeading === undefined) return undefined;
  return Object.values<Option>(options).find(({ flag }) => flag === long);
}
