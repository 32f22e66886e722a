// Writes the completion for fish to standard output.

import {
  type CommandDescription,
  commands,
  type FlagDescription,
  main,
} from '../command-description.ts';

const { name } = main;
const prefix = `__fish_${name.replaceAll('-', '_')}`;
const first = `${prefix}_first`;
const inCommand = `${prefix}_in`;

process.stdout.write(`# fish completion for ${name}

function ${first} --description 'Whether the command comes now: it stands before every flag'
    test (count (commandline -opc)) -eq 1
end

function ${inCommand} --description 'Whether the command is one of these; serve is the default'
    set -l words (commandline -opc)
    set -l command serve
    contains -- "$words[2]" ${commands.map((command) => command.name).join(' ')}
    and set command $words[2]
    contains -- $command $argv
end

complete -c ${name} -f
${commands.map(commandWord).join('')}${flags().map(flagLine).join('')}`);

function commandWord({ name: command, help }: CommandDescription): string {
  return `complete -c ${name} -n ${first} -a ${command} -d ${quote(help)}\n`;
}

/** Every flag with the commands that take it. */
function flags(): readonly { flag: FlagDescription; takers: readonly string[] }[] {
  const lines = new Map<string, { flag: FlagDescription; takers: string[] }>();
  for (const command of commands) {
    for (const flag of command.flags) {
      const line = lines.get(flag.long + flag.help) ?? { flag, takers: [] };
      line.takers.push(command.name);
      lines.set(flag.long + flag.help, line);
    }
  }
  const version = main.flags.filter(({ long }) => long === '--version');
  return [...lines.values(), ...version.map((flag) => ({ flag, takers: [] }))];
}

function flagLine({ flag, takers }: { flag: FlagDescription; takers: readonly string[] }): string {
  const { short, long, help } = flag;
  const condition = takers.length > 0 ? `'${inCommand} ${takers.join(' ')}'` : first;
  const form = `${short === undefined ? '' : ` -s ${short.slice(1)}`} -l ${long.slice(2)}`;
  return `complete -c ${name} -n ${condition}${form}${valuesOf(flag)} -d ${quote(help)}\n`;
}

function valuesOf({ argument, words, takesFile }: FlagDescription): string {
  if (argument === undefined) return '';
  if (takesFile) return ' -r -F';
  return words.length > 0 ? ` -x -a '${words.join(' ')}'` : ' -x';
}

function quote(help: string): string {
  return `'${help.replaceAll(/['\\]/g, '\\$&')}'`;
}
