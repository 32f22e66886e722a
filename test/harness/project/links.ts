import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The dead relative links of the Markdown files in a folder, which lead to a missing file or heading. */
export function deadLinks(folder: string): string[] {
  return globSync('**/*.md', { cwd: folder }).flatMap((page) => {
    const text = readFileSync(join(folder, page), 'utf8');
    return [...text.matchAll(/\]\((?![a-z]+:)([^)#]*)(?:#([^)]*))?\)/g)]
      .filter(([, path = '', heading]) => {
        const target = path === '' ? page : join(dirname(page), path);
        if (target.startsWith('..') || !existsSync(join(folder, target))) return true;
        return heading !== undefined && !headings(join(folder, target)).includes(heading);
      })
      .map(([link]) => `${page}: ${link}`);
  });
}

/** By the names that GitHub gives them. */
function headings(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}
