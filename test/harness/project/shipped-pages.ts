import { readFileSync } from 'node:fs';

const projectFile = (path: string) =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The page of the README, for a relay at this address. */
export function readmePage(relay: string): string {
  const [, script = ''] = /^ *```html\n(.*?)^ *```$/ms.exec(projectFile('README.md')) ?? [];
  return `${head}${script.replaceAll('https://login.example.com', relay)}`;
}

/** The example that logs in as the contract says, for a relay at this address. */
export const plainPage = (relay: string) =>
  projectFile('examples/contract/index.html').replaceAll('http://localhost:8000', relay);

/** The page that Compose serves, for a relay at this address whose provider has the usual name of the tests. */
export function containerPage(relay: string): string {
  const page = projectFile('deploy/docker/front-end/index.html');
  const here = replaceOnce(page, `location.origin.replace('//app.', '//login.')`, `'${relay}'`);
  return replaceOnce(here, '/auth/github', '/auth/provider');
}

/** The code of docs/front-end.md by its names. The first line of each snippet is its name. */
export function documentedSnippets(): ReadonlyMap<string, string> {
  const snippets = projectFile('docs/front-end.md').matchAll(
    /^```(?:js|html)\n(?:\/\/|<!--) ?([\w.-]*)[^\n]*\n(.*?)^```$/gms,
  );
  return new Map([...snippets].map(([, name = '', code = '']) => [name, code]));
}

/**
 * A snippet of docs/front-end.md, for a relay at this address.
 *
 * @throws {Error} if there is none of this name
 */
export function documented(name: string, relay: string): string {
  const code = documentedSnippets().get(name);
  if (code === undefined) throw new Error(`docs/front-end.md has no ${name}`);
  return code.replaceAll('https://login.example.com', relay);
}

/** The front ends of docs/front-end.md, as a configuration file has them. */
export function documentedConfig(): string {
  const [, config = ''] = /^```yaml\n(.*?)^```$/ms.exec(projectFile('docs/front-end.md')) ?? [];
  return config;
}

const head = '<!doctype html><title>Front end</title><body>';

function replaceOnce(text: string, part: string, replacement: string): string {
  const [before, after, ...more] = text.split(part);
  if (after === undefined || more.length > 0) throw new Error(`not there exactly once: ${part}`);
  return before + replacement + after;
}
