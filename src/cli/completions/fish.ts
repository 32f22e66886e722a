import type { CommandDescription, FlagDescription, ProgramDescription } from '../description.ts';

/** The completion script for fish. */
export function fishCompletion({ main, commands }: ProgramDescription): string {
  const { name } = main;
  const prefix = `__fish_${name.replaceAll('-', '_')}`;
  const first = `${prefix}_first`;
  const second = `${prefix}_second`;
  const inCommand = `${prefix}_in`;

  function commandLine({ name: command, help }: CommandDescription): string {
    return `complete -c ${name} -n ${first} -a ${command} -d ${quote(help)}\n`;
  }

  function argumentLine({ name: command, argument }: CommandDescription): string {
    if (argument === undefined) return '';
    const condition = `'${second}; and ${inCommand} ${command}'`;
    return `complete -c ${name} -n ${condition} -a '${argument.words.join(' ')}'\n`;
  }

  function flagLine({ flag, takers }: FlagOfCommands): string {
    const { short, long, help } = flag;
    const condition = takers.length > 0 ? `'${inCommand} ${takers.join(' ')}'` : first;
    const form = `${short === undefined ? '' : ` -s ${short.slice(1)}`} -l ${long.slice(2)}`;
    return `complete -c ${name} -n ${condition}${form}${valuesOf(flag)} -d ${quote(help)}\n`;
  }

  const lines = [
    ...commands.map(commandLine),
    ...commands.map(argumentLine),
    ...flagsOf({ main, commands }).map(flagLine),
  ];
  return `# fish completion for ${name}

function ${first} --description 'Whether the next word is the command'
    test (count (commandline -opc)) -eq 1
end

function ${second} --description 'Whether the next word is the argument of a command'
    test (count (commandline -opc)) -eq 2
end

function ${inCommand} --description 'Whether the command is one of these; serve is the default'
    set -l words (commandline -opc)
    set -l command serve
    contains -- "$words[2]" ${commands.map((command) => command.name).join(' ')}
    and set command $words[2]
    contains -- $command $argv
end

complete -c ${name} -f
${lines.join('')}`;
}

interface FlagOfCommands {
  readonly flag: FlagDescription;
  /** The names of the commands that take the flag; empty if only the program itself does. */
  readonly takers: readonly string[];
}

function flagsOf({ main, commands }: ProgramDescription): readonly FlagOfCommands[] {
  const all = commands.flatMap(({ name, flags }) => flags.map((flag) => ({ name, flag })));
  const groups = Map.groupBy(all, ({ flag }) => flag.long + flag.help);
  const version = main.flags.filter(({ long }) => long === '--version');
  return [
    ...[...groups.values()].flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [{ flag: first.flag, takers: [first, ...others].map(({ name }) => name) }],
    ),
    ...version.map((flag) => ({ flag, takers: [] })),
  ];
}

function valuesOf({ argument, words, takesFile }: FlagDescription): string {
  if (argument === undefined) return '';
  if (takesFile) return ' -r -F';
  return words.length > 0 ? ` -x -a '${words.join(' ')}'` : ' -x';
}

function quote(help: string): string {
  return `'${help.replaceAll(/['\\]/g, '\\$&')}'`;
}
