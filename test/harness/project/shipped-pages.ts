import { readFileSync } from 'node:fs';

const projectFile = (path: string) =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The README's script in a page of its own, for a relay at this address. */
export function readmePage(relay: string): string {
  const [, script = ''] = /^ *```html\n(.*?)^ *```$/ms.exec(projectFile('README.md')) ?? [];
  const page = replaceOnce(script, `'https://login.example.com'`, `'${relay}'`);
  return `<!doctype html><title>Front end</title><body>${page}`;
}

/** The page that Compose serves, for a relay at this address. */
export function containerPage(relay: string): string {
  const page = projectFile('deploy/docker/front-end/index.html');
  return replaceOnce(page, `location.origin.replace('//app.', '//login.')`, `'${relay}'`);
}

function replaceOnce(text: string, part: string, replacement: string): string {
  const [before, after, ...more] = text.split(part);
  if (after === undefined || more.length > 0) throw new Error(`not there exactly once: ${part}`);
  return before + replacement + after;
}
