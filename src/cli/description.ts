import type { Command, Option as Flag } from 'commander';
import * as schemas from '../config/schemas.ts';
import { acceptedWords } from '../config/schemas.ts';
import type { Option } from '../config/settings/setting.ts';
import { options } from '../config/settings/settings.ts';
import { argumentTerm } from './help.ts';

/** A flag as the manual and the completions describe it. */
export interface FlagDescription {
  readonly long: string;
  readonly short: string | undefined;
  /** What the flag takes, without brackets; undefined for a switch. */
  readonly argument: string | undefined;
  readonly help: string;
  /** Its row in the option table, if it configures the relay. */
  readonly option: Option | undefined;
  /** The words that it accepts, if they are known. */
  readonly words: readonly string[];
  readonly takesFile: boolean;
}

/** What a command takes besides flags. */
interface ArgumentDescription {
  /** Its name, in brackets: `<shell>` if it is required, `[command]` if not. */
  readonly term: string;
  /** The words that it accepts. */
  readonly words: readonly string[];
}

/** A command as the manual and the completions describe it. */
export interface CommandDescription {
  readonly name: string;
  readonly help: string;
  readonly flags: readonly FlagDescription[];
  /** The word that it takes, if any. */
  readonly argument: ArgumentDescription | undefined;
}

/** The whole command line. */
export interface ProgramDescription {
  /** The program itself, which takes the flags of `serve`. */
  readonly main: CommandDescription;
  /** Every command, in the order in which help lists them. */
  readonly commands: readonly CommandDescription[];
}

/** Describes the command line as data. */
export function describeProgram(program: Command): ProgramDescription {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const names = commands.map((command) => command.name());

  function describeCommand(command: Command): CommandDescription {
    const [argument] = command.registeredArguments;
    return {
      name: command.name(),
      help: command.description(),
      flags: help.visibleOptions(command).map(describeFlag),
      argument: argument && {
        term: argumentTerm(argument),
        words: argument.argChoices ?? names,
      },
    };
  }

  return { main: describeCommand(program), commands: commands.map(describeCommand) };
}

function describeFlag(flag: Flag): FlagDescription {
  const option = optionOf(flag);
  return {
    long: flag.long ?? '',
    short: flag.short,
    argument: /<(.+)>/.exec(flag.flags)?.[1],
    help: option?.help ?? flag.description,
    option,
    words: option?.argument === undefined ? [] : acceptedWords(option.schema),
    takesFile: option?.schema === schemas.filePath,
  };
}

// Only the options of the relay have a group. Commands also have other flags.
function optionOf({ long, helpGroupHeading }: Flag): Option | undefined {
  if (helpGroupHeading === undefined) return undefined;
  return Object.values<Option>(options).find(({ flag }) => flag === long);
}
