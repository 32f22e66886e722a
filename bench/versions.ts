import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

/** What was measured, and on what. */
export interface Setting {
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** Describes this machine, and the versions of what can be measured on it. */
export function describeSetting(): Setting {
  const [cpu] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return {
    machine: `${cpus().length} × ${cpu?.model}, ${gibibytes} GiB, Linux ${release()}`,
    versions: {
      'Node.js': process.versions.node,
      ...packages('..', ['koa', '@koa/router', 'got']),
      ...packages('./peers', ['grant', 'fastify', '@fastify/oauth2', '@hapi/hapi', '@hapi/bell']),
      ...debianPackages(['python3-fastapi', 'uvicorn', 'python3-httpx', 'nginx-light']),
    },
  };
}

function packages(directory: string, names: readonly string[]): Record<string, string> {
  const file = new URL(`${directory}/package.json`, import.meta.url);
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.fromEntries(names.map((name) => [name, dependencies[name]]));
}

function debianPackages(names: readonly string[]): Record<string, string> {
  const versions = names.map((name) => {
    try {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills it in
      const query = ['--show', '--showformat=${Version}', name];
      return [name, execFileSync('dpkg-query', query, { encoding: 'utf8', stdio: 'pipe' })];
    } catch {
      return [name, 'not installed'];
    }
  });
  return Object.fromEntries(versions);
}
