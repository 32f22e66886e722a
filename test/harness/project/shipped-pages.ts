import { readFileSync } from 'node:fs';

const projectFile = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The page of the README, for a relay at this address. */
export function readmePage(relay: string): string {
  const [, script = ''] = /^ *```html\n(.*?)^ *```$/ms.exec(projectFile('README.md')) ?? [];
  const here = script.replaceAll('https://login.example.com', relay);
  return `${head}${here.replaceAll('/auth/github', '/auth/provider')}`;
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

/** The code of a manual by its names. The first line of each snippet is its name. */
export function documentedSnippets(manual = 'front-end'): ReadonlyMap<string, string> {
  const snippets = projectFile(`docs/${manual}.md`).matchAll(
    /^```(?:js|html|python)\n(?:\/\/|<!--|#) ?([\w.-]*)[^\n]*\n(.*?)^```$/gms,
  );
  return new Map([...snippets].map(([, name = '', code = '']) => [name, code]));
}

/**
 * A snippet of a manual, for a relay at this address whose provider has the usual name of the tests.
 *
 * @throws {Error} if there is none of this name
 */
export function documented(name: string, relay: string, manual = 'front-end'): string {
  const code = documentedSnippets(manual).get(name);
  if (code === undefined) throw new Error(`docs/${manual}.md has no ${name}`);
  const here = code.replaceAll('https://login.example.com', relay);
  return here.replaceAll('/auth/github', '/auth/provider');
}

/** The configuration files in docs/resources.md, or parts of one. */
export function resourceConfigs(): readonly string[] {
  const files = projectFile('docs/resources.md').matchAll(/^```yaml\n(.*?)^```$/gms);
  return [...files].map(([, file = '']) => file);
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
