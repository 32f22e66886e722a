import type { Command, CommanderError } from 'commander';
import { didYouMean, findSuggestion } from '../config/fault.ts';

/**
 * Describes what is wrong with the command line.
 *
 * The message never quotes a value or an unexpected argument, because either may be part of a secret. It quotes an
 * unknown flag only if the flag cannot contain a value.
 *
 * @param argv arguments after the program's name
 */
export function describeUsageError(
  { code, message }: CommanderError,
  program: Command,
  argv: readonly string[],
): string {
  const [first = ''] = argv;
  const command = program.commands.find((candidate) => candidate.name() === first);
  switch (code) {
    case 'commander.unknownOption':
      return describeUnknownOption(message, command ?? program);
    case 'commander.unknownCommand':
    case 'commander.excessArguments':
      return describeStrayWord(first, command, program);
    case 'commander.missingArgument':
    case 'commander.invalidArgument':
      return describeWrongChoice(command ?? program);
    default:
      return message.replace(/^error: /, '');
  }
}

/** Describes a missing or unknown argument, such as the action of `login-relay config`. */
function describeWrongChoice(command: Command): string {
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  const [word = ''] = command.args;
  const known = findSuggestion(word, choices);
  return known === undefined
    ? `${command.name()} takes one of: ${choices.join(', ')}`
    : `${command.name()} knows no ${word}${didYouMean(known)}`;
}

/** Describes an unknown flag, or a flag with a value although it takes none. */
function describeUnknownOption(message: string, command: Command): string {
  const [, name = '', value] = /'(--[\w-]+|-\w)(=)?/.exec(message) ?? [];
  const flags = command.options.map(({ long }) => long ?? '');
  if (value !== undefined && flags.includes(name)) return `${name} takes no value`;
  const known = findSuggestion(name, flags);
  if (known === undefined && mayContainValue(name, flags)) return 'unknown option';
  return `unknown option ${name}${didYouMean(known)}`;
}

/** Whether the name of a flag may be a value, or a flag and a value without a space between: `--port8000`. */
function mayContainValue(name: string, flags: readonly string[]): boolean {
  const looksLikeFlag = /^--?[a-z]+(-[a-z]+)*$/.test(name);
  return (!looksLikeFlag && name.length > 2) || flags.some((flag) => flag !== '' && name.startsWith(flag));
}

/** Describes a word that is no command, or that follows a command without arguments. */
function describeStrayWord(word: string, command: Command | undefined, program: Command): string {
  if (command !== undefined) {
    const isStartedByNpm = process.env['npm_lifecycle_event'] === command.name();
    const hint = isStartedByNpm ? `: npm needs -- before options, as in npm run ${command.name()} --` : '';
    return `${command.name()} is followed by an unexpected argument${hint}`;
  }
  const commands = program.createHelp().visibleCommands(program);
  const close = findSuggestion(
    word,
    commands.map((candidate) => candidate.name()),
  );
  // A word that is close to the name of a command is no secret, so it can be quoted.
  return close === undefined ? 'unknown command or unexpected argument' : `unknown command ${word}${didYouMean(close)}`;
}
