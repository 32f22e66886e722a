import type { Command, Option as Flag } from 'commander';
import { acceptedWords, filePath } from '../../config/schemas.ts';
import type { Option } from '../../config/settings/setting.ts';
import { options } from '../../config/settings/settings.ts';

/**
 * `login-relay completion <shell>`: the completion script for a shell. The script calls the program as it was typed,
 * with `complete` and the words up to the cursor. It offers each line of the output, which is a word and, after a tab,
 * its help. A line that is only a colon stands for file names.
 */
export const completionScripts = {
  bash: `# bash completion for login-relay
_login_relay() {
  local current=\${COMP_WORDS[COMP_CWORD]} word help
  [[ $current == = ]] && current=
  COMPREPLY=()
  while IFS=$'\\t' read -r word help; do
    if [[ $word != : ]]; then
      COMPREPLY+=("$word")
      continue
    fi
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
  done < <("\${COMP_WORDS[0]/#~/$HOME}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
} &&
  complete -F _login_relay login-relay
`,
  zsh: `#compdef login-relay
_login-relay() {
  local -a found=("\${(@f)$(\${~words[1]} complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ $words[CURRENT] == --*=* ]] && compset -P '*='
  if [[ $found[1] == : ]]; then
    _files
  elif [[ -n $found[1] ]]; then
    local -a names=("\${(@)found%%$'\\t'*}") shown=("\${(@)found//$'\\t'/  -- }")
    compadd -l -d shown -a names
  fi
}

if [[ $funcstack[1] == _login-relay ]]; then
  _login-relay "$@"
else
  compdef _login-relay login-relay
fi
`,
  fish: `# fish completion for login-relay
function __fish_login_relay
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l prefix (string match -r '^--[^=]*=' -- "$current")
    set -l found ($typed[1] complete -- $typed[2..-1] "$current" 2>/dev/null)
    if test "$found[1]" = :
        __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
    else if set -q found[1]
        printf '%s\\n' "$prefix"$found
    end
end

complete -c login-relay -f -a '(__fish_login_relay)'
`,
};

export type Shell = keyof typeof completionScripts;

/**
 * `login-relay complete`: answers the completion scripts.
 *
 * @param words the words after the program's name, up to the cursor. The last word is to be completed. Bash splits
 *   `--flag=value` into three words, other shells do not
 * @returns a line for each word to offer
 */
export function complete(words: readonly string[], program: Command): string {
  const typed = words.at(-1) ?? '';
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  const current = value ?? (typed === '=' ? '' : typed);
  const before = words.slice(0, -1).filter((word) => word !== '=');
  if (flag) before.push(flag);
  return listCandidates(program, before, current)
    .filter((line) => line.startsWith(current) || line === ':')
    .map((line) => `${line}\n`)
    .join('');
}

/** Lists the words that may follow `before`, each as a line for the script. A typed dash asks for flags. */
function listCandidates(program: Command, before: readonly string[], current: string): readonly string[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const command = commands.find((candidate) => candidate.name() === before[0]);
  const flags = help.visibleOptions(command ?? program);
  const flag = flags.find(({ long, required }) => required && long === before.at(-1));
  if (flag) return listValues(flag);
  if (current.startsWith('-')) return flags.flatMap(describeFlag);
  if (before.length === 0) return commands.map((candidate) => `${candidate.name()}\t${candidate.description()}`);
  return before.length === 1 ? (command?.registeredArguments[0]?.argChoices ?? []) : [];
}

/** Lists the values of a flag, or the line for file names; nothing for free text. */
function listValues({ long }: Flag): readonly string[] {
  const option = Object.values<Option>(options).find(({ flag }) => flag === long);
  if (option === undefined) return [];
  return option.schema === filePath ? [':'] : acceptedWords(option.schema);
}

/** The lines for the long and the short form of a flag. */
function describeFlag({ short, long, description }: Flag): string[] {
  return [long, short].flatMap((form) => (form ? [`${form}\t${description}`] : []));
}
