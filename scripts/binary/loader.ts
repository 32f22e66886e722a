// Runs first inside the binary: loads the program's modules from it, compiled ahead.
import { getAssetKeys, getRawAsset } from 'node:sea';
import { Script } from 'node:vm';

interface LoadedModule {
  exports: unknown;
}

const assets = new Set(getAssetKeys());
const modules = new Map<string, LoadedModule>();

function load(name: string): unknown {
  const already = modules.get(name);
  if (already) return already.exports;
  const module: LoadedModule = { exports: {} };
  modules.set(name, module);
  const source = read(name)?.toString('latin1');
  if (source === undefined) throw new Error(`there is no module ${name} in the binary`);
  const cachedData = read(`${name}.cache`);
  const script = new Script(source, { filename: `login-relay/${name}`, cachedData });
  script.runInThisContext()(requireModule, module, module.exports);
  return module.exports;
}

function requireModule(name: string): unknown {
  if (name.startsWith('./')) return load(name.slice(2));
  const builtin = process.getBuiltinModule(name);
  if (!builtin) throw new Error(`there is no module ${name} in the binary`);
  return builtin;
}

function read(name: string): Buffer<ArrayBuffer> | undefined {
  if (assets.has(name)) return Buffer.from(getRawAsset(name));
  if (!assets.has(`${name}.zst`)) return undefined;
  const { zstdDecompressSync } = process.getBuiltinModule('node:zlib');
  return zstdDecompressSync(Buffer.from(getRawAsset(`${name}.zst`)));
}

// Node says nothing either of what libraries in node_modules still use.
process.noDeprecation = true;
load('main.js');
