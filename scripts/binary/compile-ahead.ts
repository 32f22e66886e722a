// Compiles scripts ahead, every function of them, so that starting a program compiles nothing:
// writes beside each one what V8 of the same version takes as `cachedData` in place of compiling.
// In a process of its own, with a seed: only so are the bytes the same every time.
// Usage: node --random-seed=1 scripts/binary/compile-ahead.ts <path>...
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

for (const path of process.argv.slice(2)) {
  const source = readFileSync(path, 'latin1');
  setFlagsFromString('--no-lazy');
  const script = new Script(source);
  // V8 takes cached code only where its flags are the ones that the code was cached with.
  setFlagsFromString('--lazy');
  writeFileSync(`${path}.cache`, script.createCachedData());
}
