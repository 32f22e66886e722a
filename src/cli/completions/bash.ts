import type { CommandDescription, FlagDescription, ProgramDescription } from '../description.ts';

/** The completion script for bash. */
export function bashCompletion({ main, commands }: ProgramDescription): string {
  const { name } = main;
  const functionName = `_${name.replaceAll('-', '_')}`;
  const names = commands.map((command) => command.name).join(' ');
  return `# bash completion for ${name}

${functionName}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} flags arguments word
  COMPREPLY=()
  # The equals sign of --flag=value is a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  case \${COMP_WORDS[1]} in
${commands.map(commandCase).join('')}    *) flags='${longFlags(main)}' ;;
  esac
  case $previous in
${valueCases([main, ...commands])}    *)
      if [[ $current == -* || $COMP_CWORD -gt 2 ]]; then
        set -- -W "$flags"
      elif [[ $COMP_CWORD -eq 2 ]]; then
        set -- -W "\${arguments:-$flags}"
      else
        set -- -W '${names}'
      fi
      ;;
  esac
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(compgen "$@" -- "$current")
} &&
  complete -F ${functionName} ${name}
`;
}

function commandCase(command: CommandDescription): string {
  const { name, argument } = command;
  const words = argument === undefined ? '' : ` arguments='${argument.words.join(' ')}'`;
  return `    ${name}) flags='${longFlags(command)}'${words} ;;\n`;
}

function longFlags({ flags }: CommandDescription): string {
  return flags.map(({ long }) => long).join(' ');
}

/** Flags that take the same kind of value share a case. */
function valueCases(commands: readonly CommandDescription[]): string {
  const flags = new Map(
    commands.flatMap((command) => command.flags).map((flag) => [flag.long, flag]),
  );
  const cases = Map.groupBy(flags.values(), generatorOf);
  cases.delete(undefined);
  return [...cases]
    .map(([value, takers]) => {
      return `    ${takers.map(({ long }) => long).join(' | ')}) ${value} ;;\n`;
    })
    .join('');
}

function generatorOf({ argument, words, takesFile }: FlagDescription): string | undefined {
  if (argument === undefined) return undefined;
  if (takesFile) return 'compopt -o filenames 2>/dev/null; set -- -f';
  return words.length > 0 ? `set -- -W '${words.join(' ')}'` : 'return';
}
