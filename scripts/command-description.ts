import type { Command, Option as Flag } from 'commander';
import { createProgram } from '../src/cli/program.ts';
import { type Option, options } from '../src/config/options.ts';
import * as schemas from '../src/config/schemas.ts';
import { presets } from '../src/providers/presets.ts';

/** A flag as the manual and the completions tell of it. */
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

/** A command as the manual and the completions tell of it. */
export interface CommandDescription {
  readonly name: string;
  readonly help: string;
  readonly flags: readonly FlagDescription[];
}

// The commands are described, never run.
const program = createProgram(Object.create(null), () => {});
const help = program.createHelp();

/** The program itself, which takes the flags of `serve`. */
export const main: CommandDescription = describeCommand(program);

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandDescription[] = help
  .visibleCommands(program)
  .map(describeCommand);

function describeCommand(command: Command): CommandDescription {
  return {
    name: command.name(),
    help: command.description(),
    flags: help.visibleOptions(command).map(describeFlag),
  };
}

function describeFlag(flag: Flag): FlagDescription {
  const option = optionOf(flag);
  return {
    long: flag.long ?? '',
    short: flag.short,
    argument: /<(.+)>/.exec(flag.flags)?.[1],
    help: option?.help ?? flag.description,
    option,
    words: option?.argument === undefined ? [] : wordsOf(option),
    takesFile: option?.schema === schemas.filePath,
  };
}

// Commands have flags of their own besides; only those of the table are shown in groups.
function optionOf({ long, helpGroupHeading }: Flag): Option | undefined {
  if (helpGroupHeading === undefined) return undefined;
  return Object.values<Option>(options).find(({ flag }) => flag === long);
}

function wordsOf({ flag, schema }: Option): readonly string[] {
  if (flag === options.provider.flag) return presets.map(({ name }) => name);
  if (!('options' in schema) || !Array.isArray(schema.options)) return [];
  return schema.options.filter((word) => typeof word === 'string');
}
