#!/bin/sh
# Writes what lies below /usr/share into the directory that is named: the manual page, the completions.
set -eu
share=$1

write() { # PATH SCRIPT
  mkdir -p "$(dirname "$share/$1")"
  node "scripts/$2" >"$share/$1"
}

write man/man1/login-relay.1 man-page.ts
write bash-completion/completions/login-relay completions/bash.ts
write zsh/site-functions/_login-relay completions/zsh.ts
write fish/vendor_completions.d/login-relay.fish completions/fish.ts
