import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const projectFile = (path: string) =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The page of the README, for a relay at this address. */
export const readmePage = (relay: string) => firstPage('README.md', relay);

/** The page of the client's README, for a relay at this address. */
export const clientPage = (relay: string) => firstPage('client/README.md', relay);

function firstPage(document: string, relay: string): string {
  const [, script = ''] = /^ *```html\n(.*?)^ *```$/ms.exec(projectFile(document)) ?? [];
  return `${head}${script.replaceAll('https://login.example.com', relay)}`;
}

/** The page of docs/front-end.md with the browser client, for a relay at this address. */
export function fiveLinesPage(relay: string): string {
  return head + documentedPage(relay).get('/client.html');
}

/** The page of docs/front-end.md that logs in as the contract says, for a relay at this address. */
export function plainPage(relay: string): string {
  return head + documentedPage(relay).get('/plain.html');
}

/** The page that Compose serves, for a relay at this address whose provider has the usual name of the tests. */
export function containerPage(relay: string): string {
  const page = projectFile('deploy/docker/front-end/index.html');
  const here = replaceOnce(page, `location.origin.replace('//app.', '//login.')`, `'${relay}'`);
  return replaceOnce(here, '/auth/github', '/auth/provider');
}

/**
 * The files of the page in docs/front-end.md by their paths, and the settings of other libraries, for a relay at this address. The first line
 * of each snippet names its file; a file may have several snippets.
 */
export function documentedPage(relay: string): ReadonlyMap<string, string> {
  const files = new Map([['/oauth4webapi.js', readFileSync(library, 'utf8')]]);
  const snippets = projectFile('docs/front-end.md').matchAll(/^```(?:js|html)\n(.*?)^```$/gms);
  for (const [, snippet = ''] of snippets) {
    const name = /^(?:\/\/|<!--) ([\w.-]+)/.exec(snippet)?.[1] ?? '';
    const text = snippet.slice(snippet.indexOf('\n') + 1);
    const path = name === 'index.html' ? '/' : `/${name}`;
    const before = files.get(path) ?? '';
    files.set(path, before + text.replaceAll('https://login.example.com', relay));
  }
  return files;
}

const head = '<!doctype html><title>Front end</title><body>';
const library = fileURLToPath(import.meta.resolve('oauth4webapi'));

function replaceOnce(text: string, part: string, replacement: string): string {
  const [before, after, ...more] = text.split(part);
  if (after === undefined || more.length > 0) throw new Error(`not there exactly once: ${part}`);
  return before + replacement + after;
}
