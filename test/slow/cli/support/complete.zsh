# Prints what zsh completes the line to, between two marks: complete.zsh DIRECTORY LINE
# The completion system works only in a line editor, so there is one on a terminal of its own.

if [[ $1 != --inside ]]; then
  zmodload zsh/zpty
  zpty editor zsh -f -i
  zpty -w editor ". ${0:A} --inside $1"
  zpty -w -n editor "$2"$'\t'
  while zpty -r editor line; do
    print -rn -- "$line"
  done
  exit
fi

fpath=($2/zsh/site-functions $fpath)
autoload -Uz compinit
compinit -u -D
list() {
  compadd() {
    local -a found
    builtin compadd -A found "$@"
    print -rl -- $found
  }
  print BEGIN
  _main_complete
  print END
  exit
}
zle -C list complete-word list
bindkey '^I' list
