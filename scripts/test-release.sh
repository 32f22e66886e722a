#!/bin/sh
# Builds the release of the last commit again in another directory, and compares the files.
set -eu
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
git clone --quiet . "$elsewhere/login relay"
make --no-print-directory -C "$elsewhere/login relay" release >/dev/null
diff dist/SHA256SUMS "$elsewhere/login relay/dist/SHA256SUMS"
echo 'the same bytes, twice'
