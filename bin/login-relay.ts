#!/usr/bin/env node
import { main } from '../src/cli/main.ts';

// A connection attempt in progress, for example through a silent proxy, must not delay the exit.
main(process.argv.slice(2), process.env).then((code) => process.exit(code));
