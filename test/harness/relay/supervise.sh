#!/bin/sh
# Starts a command anew whenever it has ended, on the socket that this script was passed itself, and
# tells its process: supervise.sh COMMAND...
while :; do
  sh -c 'echo "{\"pid\":$$}"; LISTEN_PID=$$ exec "$@"' sh "$@"
done
