// Makes an executable, for this machine if no platform is named.
// Usage: node scripts/binary/make-binary.ts <entry point> <output> [platform]
import { basename, join } from 'node:path';
import { bundle, bundleFile } from './bundle.ts';
import { makeExecutable } from './executable.ts';
import { platformCalled, thisPlatform } from './platforms.ts';
import { prepareRuntime } from './runtime.ts';
import { holdSize } from './size-limits.ts';

const [entryPoint = '', output = '', name] = process.argv.slice(2);
const here = thisPlatform();
const platform = name === undefined ? here : platformCalled(name);
const loader = await bundleFile('scripts/binary/loader.ts');
const modules = await bundle(entryPoint);
const folder = join('dist/build', platform.name, basename(entryPoint, '.ts'));
await makeExecutable({ loader, modules }, platform, {
  runtime: prepareRuntime(platform, join(folder, 'runtime')),
  output,
  folder: join(folder, 'executable'),
});
holdSize('executable', output, platform);
