import { readFileSync } from 'node:fs';

/** The browser client of front ends. */
export const clientFiles = {
  module: readFileSync(new URL('../../client/client.js', import.meta.url), 'utf8'),
  types: readFileSync(new URL('../../client/client.d.ts', import.meta.url), 'utf8'),
};
