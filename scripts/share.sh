#!/bin/sh
# Writes the manual page, the completions and the schema of the configuration file into a directory, with paths as
# below /usr/share.
set -eu
share=$1

write() { # PATH ARGUMENT...
  path=$share/$1
  shift
  mkdir -p "$(dirname "$path")"
  scripts/node bin/login-relay.ts "$@" >"$path"
}

write man/man1/login-relay.1 man
write bash-completion/completions/login-relay completion bash
write zsh/site-functions/_login-relay completion zsh
write fish/vendor_completions.d/login-relay.fish completion fish
write login-relay/config.schema.json config schema
