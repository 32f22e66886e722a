#!/usr/bin/env node
import { main } from '../src/cli/main.ts';

// The process exits explicitly, because a connection attempt through a silent proxy would otherwise delay its end.
main(process.argv.slice(2), process.env).then((code) => process.exit(code));
