// Writes the completion for zsh to standard output.

import {
  type CommandDescription,
  commands,
  type FlagDescription,
  main,
} from '../command-description.ts';

process.stdout.write(`#compdef ${main.name}

local -a shared=(
${specs(main.flags.filter(isShared), '  ')})

if ((CURRENT == 2)); then
  local -a commands=(
${commands.map(commandWord).join('')}  )
  _describe command commands
fi
case $words[2] in
${commands.map(commandCase).join('')}  *)
    _arguments $shared \\
${specs(ownFlags(main), '      ', ' \\').replace(/ \\\n$/, '\n')}    ;;
esac
`);

function commandCase(command: CommandDescription): string {
  const shared = command.flags.some(isShared) ? ' $shared' : '';
  return `  ${command.name})
    shift words
    ((CURRENT--))
    _arguments${shared} \\
${specs(ownFlags(command), '      ', ' \\').replace(/ \\\n$/, '\n')}    ;;
`;
}

function isShared({ option }: FlagDescription): boolean {
  return option !== undefined;
}

function ownFlags({ flags }: CommandDescription): readonly FlagDescription[] {
  return flags.filter((flag) => !isShared(flag));
}

function commandWord({ name, help }: CommandDescription): string {
  return `    ${quote(`${name}:${help}`)}\n`;
}

function specs(flags: readonly FlagDescription[], indent: string, end = ''): string {
  return flags
    .flatMap((flag) => flagSpecs(flag))
    .map((spec) => `${indent}${quote(spec)}${end}\n`)
    .join('');
}

/** @see zshcompsys(1), _arguments */
function flagSpecs(flag: FlagDescription): readonly string[] {
  const { short, long, argument, help } = flag;
  const about = `[${help.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  if (argument !== undefined) return [`${long}=${about}:${argument}:${valuesOf(flag)}`];
  return [short, long].filter((form) => form !== undefined).map((form) => form + about);
}

function valuesOf({ words, takesFile }: FlagDescription): string {
  if (takesFile) return '_files';
  return words.length > 0 ? `(${words.join(' ')})` : ' ';
}

function quote(spec: string): string {
  return `'${spec.replaceAll("'", "'\\''")}'`;
}
