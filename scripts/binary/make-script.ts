// Makes one script of a program and its libraries. It starts in half the time that the sources take.
// Usage: node scripts/binary/make-script.ts <entry point> <output>
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundle } from './bundle.ts';

const [entryPoint = '', output = ''] = process.argv.slice(2);
mkdirSync(dirname(output), { recursive: true });
// Node.js reports no deprecations of code in node_modules. But the script is not in node_modules.
writeFileSync(output, `process.noDeprecation = true;\n${await bundle(entryPoint)}(require);`);
