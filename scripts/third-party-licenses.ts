// Writes the licences of all parts of the binary to standard output, the Node runtime's first.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockedPackage, productionPackages, runtimePackages } from './production-packages.ts';

const rule = '='.repeat(80);
const root = join(import.meta.dirname, '..');
// The packages of all platforms contain the same text, but only the package of this machine is installed.
const runtime = runtimePackages.find(({ path }) => existsSync(join(root, path)));
if (runtime === undefined) throw new Error('no package with the Node runtime is installed');

const packages = new Map(productionPackages.map((one) => [`${one.name} ${one.version}`, one]));
process.stdout.write(
  section(`Node.js ${runtime.version}`, runtime) + [...packages].map(([title, one]) => section(title, one)).join(''),
);

function section(title: string, locked: LockedPackage): string {
  return `${rule}\n${title}: ${locked.license}\n${rule}\n\n${text(locked)}\n\n`;
}

function text({ path, license }: LockedPackage): string {
  const directory = join(root, path);
  const files = readdirSync(directory).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (files.length === 0) return `The package declares the licence ${license} and holds no text of it.`;
  return files.map((file) => readFileSync(join(directory, file), 'utf8').trim()).join('\n\n');
}
