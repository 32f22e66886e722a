// Compiles a script, so that the executable need not do it at each start. Only the same V8 can use the
// result. Node has a setting for this, `useCodeCache`, but its bytes differ from build to build.
// Usage: node --random-seed=1 scripts/binary/compile.ts <script> <output>
import { readFileSync, writeFileSync } from 'node:fs';
import { Script } from 'node:vm';

const [script = '', output = ''] = process.argv.slice(2);
writeFileSync(output, new Script(readFileSync(script, 'utf8')).createCachedData());
