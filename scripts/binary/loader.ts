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
  const script = new Script(read(name).toString('latin1'), {
    filename: `login-relay/${name}`,
    cachedData: assets.has(`${name}.cache`) ? read(`${name}.cache`) : undefined,
  });
  script.runInThisContext()(requireModule, module, module.exports);
  return module.exports;
}

function requireModule(name: string): unknown {
  if (name.startsWith('./')) return load(name.slice(2));
  const builtin = process.getBuiltinModule(name);
  if (!builtin) throw new Error(`there is no module ${name} in the binary`);
  return builtin;
}

function read(asset: string): Buffer<ArrayBuffer> {
  return Buffer.from(getRawAsset(asset));
}

// Node says nothing either of what libraries in node_modules still use.
process.noDeprecation = true;
load('main.js');
