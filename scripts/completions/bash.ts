// Writes the completion for bash to standard output.

import {
  type CommandDescription,
  commands,
  type FlagDescription,
  main,
} from '../command-description.ts';

const { name } = main;

process.stdout.write(`# bash completion for ${name}

_${functionName()}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} flags word
  COMPREPLY=()
  # The equals sign of --flag=value is a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  case \${COMP_WORDS[1]} in
${commands.map((command) => `    ${command.name}) flags='${longFlags(command)}' ;;\n`).join('')}    *) flags='${longFlags(main)}' ;;
  esac
  case $previous in
${valueCases()}    *)
      if [[ $current != -* && $COMP_CWORD -eq 1 ]]; then
        set -- -W '${commands.map((command) => command.name).join(' ')}'
      else
        set -- -W "$flags"
      fi
      ;;
  esac
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(compgen "$@" -- "$current")
} &&
  complete -F _${functionName()} ${name}
`);

function functionName(): string {
  return name.replaceAll('-', '_');
}

function longFlags({ flags }: CommandDescription): string {
  return flags.map(({ long }) => long).join(' ');
}

/** Flags that take the same kind of value share a case. */
function valueCases(): string {
  const flags = new Map(
    [main, ...commands].flatMap((command) => command.flags).map((flag) => [flag.long, flag]),
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
