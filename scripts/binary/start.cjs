// Runs first in the executable, and starts the program.
const { getAsset, getAssetKeys, getRawAsset } = require('node:sea');
const { Script } = require('node:vm');

// Node reports no deprecations of code in node_modules. The program is not in one.
process.noDeprecation = true;
const compiled = getAssetKeys().includes('compiled') ? Buffer.from(getRawAsset('compiled')) : undefined;
const program = new Script(getAsset('program', 'latin1'), {
  filename: 'login-relay',
  cachedData: compiled,
});
program.runInThisContext()(require);
