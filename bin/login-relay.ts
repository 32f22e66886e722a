#!/usr/bin/env node
import { main } from '../src/cli/main.ts';

// A connection that is still being opened, as through a silent proxy, must not hold up the end.
main(process.argv.slice(2), process.env).then((code) => process.exit(code));
