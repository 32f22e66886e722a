import type { CommandDescription, FlagDescription, ProgramDescription } from '../description.ts';

/** The completion script for zsh: a file for `$fpath`, which can be sourced as well. */
export function zshCompletion({ main, commands }: ProgramDescription): string {
  const { name } = main;
  return `#compdef ${name}

_${name}() {
  local -a shared=(
${specs(main.flags.filter(isShared), '    ')}
  )

  if ((CURRENT == 2)); then
    local -a commands=(
${commands.map(commandWord).join('\n')}
    )
    _describe command commands
  fi
  case $words[2] in
${commands.map(commandCase).join('\n')}
    *)
      _arguments $shared \\
${specs(ownFlags(main), '        ', ' \\')}
      ;;
  esac
}

if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function commandCase(command: CommandDescription): string {
  const { name, flags, argument } = command;
  const shared = flags.some(isShared) ? ' $shared' : '';
  const own = [
    ...ownFlags(command).flatMap(flagSpecs),
    ...(argument === undefined
      ? []
      : [`1:${argument.term.slice(1, -1)}:(${argument.words.join(' ')})`]),
  ];
  return `    ${name})
      shift words
      ((CURRENT--))
      _arguments${shared} \\
${lines(own, '        ', ' \\')}
      ;;`;
}

function isShared({ option }: FlagDescription): boolean {
  return option !== undefined;
}

function ownFlags({ flags }: CommandDescription): readonly FlagDescription[] {
  return flags.filter((flag) => !isShared(flag));
}

function commandWord({ name, help }: CommandDescription): string {
  return `      ${quote(`${name}:${help}`)}`;
}

function specs(flags: readonly FlagDescription[], indent: string, between = ''): string {
  return lines(flags.flatMap(flagSpecs), indent, between);
}

function lines(specs: readonly string[], indent: string, between: string): string {
  return specs.map((spec) => `${indent}${quote(spec)}`).join(`${between}\n`);
}

/** @see zshcompsys(1), _arguments */
function flagSpecs(flag: FlagDescription): readonly string[] {
  const { short, long, argument, help, option } = flag;
  const about = `[${help.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  if (argument !== undefined) {
    const repeatable = option?.repeatable ? '*' : '';
    return [`${repeatable}${long}=${about}:${argument}:${valuesOf(flag)}`];
  }
  return [short, long].filter((form) => form !== undefined).map((form) => form + about);
}

function valuesOf({ words, takesFile }: FlagDescription): string {
  if (takesFile) return '_files';
  return words.length > 0 ? `(${words.join(' ')})` : ' ';
}

function quote(spec: string): string {
  return `'${spec.replaceAll("'", "'\\''")}'`;
}
