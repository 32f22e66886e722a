# Prints what bash completes the last of the words to: complete.bash DIRECTORY WORD...
# Words are split as readline splits them, at the equals sign too.
# shellcheck shell=bash
. "$1/bash-completion/completions/login-relay"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
completion=$(complete -p "$1")
[[ $completion =~ -F\ ([^ ]+) ]] && "${BASH_REMATCH[1]}"
printf '%s\n' "${COMPREPLY[@]}"
