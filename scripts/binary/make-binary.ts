// Makes an executable, for this machine if no platform is named.
// Usage: node scripts/binary/make-binary.ts <entry point> <output> [platform]
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundle } from './bundle.ts';
import { makeExecutable } from './executable.ts';
import { platformCalled, thisPlatform } from './platforms.ts';
import { prepareRuntime } from './runtime.ts';
import { holdSize } from './size-limits.ts';

const [entryPoint = '', output = '', name] = process.argv.slice(2);
const here = thisPlatform();
const platform = name === undefined ? here : platformCalled(name);
const folder = join('dist/build', platform.name, basename(entryPoint, '.ts'));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { runtime, isStripped } = prepareRuntime(platform, join(folder, 'runtime'));
await makeExecutable(await bundle(entryPoint), platform, { runtime, output, folder });
// On a user's machine without strip, the executable is larger.
if (isStripped) holdSize('executable', output, platform);
