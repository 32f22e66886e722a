import { readFileSync } from 'node:fs';

/** The demo's files that are not code. */
export const assets = {
  /** The front end: one HTML page. */
  frontEnd: readFileSync(new URL('./front-end/index.html', import.meta.url), 'utf8'),
};
