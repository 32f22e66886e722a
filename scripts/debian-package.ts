// Builds the Debian package of one architecture: debian-package.ts ARCHITECTURE BINARY DIST
// DIST contains the other files: the manual page, the completions, the third-party licences.
// DEBFULLNAME and DEBEMAIL name the maintainer of the package.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { version } from '../src/version.ts';
import { userDocuments } from './binary/archive-content.ts';
import { pageWithout, repository } from './repository.ts';
import { sourceDate } from './source-date.ts';

const [architecture = '', binary = '', dist = ''] = process.argv.slice(2);
const name = 'login-relay';
const packageVersion = `${version}-1`;
const { DEBFULLNAME = 'login-relay authors', DEBEMAIL = 'maintainers@login-relay.example' } = process.env;
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;
const homepage = repository === undefined ? '' : `Homepage: ${repository}\n`;
const control = readFileSync('deploy/debian/control', 'utf8').replace(/(?=^Description:)/m, homepage);
const documentation = `usr/share/doc/${name}`;

/** The files that are copied, by their places. Files whose names end in `.gz` are compressed. */
const sources: Record<string, string> = {
  [`usr/bin/${name}`]: binary,
  [`usr/lib/systemd/system/${name}.service`]: `deploy/systemd/${name}.service`,
  [`usr/lib/systemd/system/${name}@.service`]: `deploy/systemd/${name}@.service`,
  [`usr/lib/systemd/system/${name}.socket`]: `deploy/systemd/${name}.socket`,
  [`usr/lib/sysusers.d/${name}.conf`]: `deploy/systemd/${name}.sysusers`,
  [`usr/share/${name}/config.schema.json`]: `${dist}/share/${name}/config.schema.json`,
  [`etc/${name}/config.yaml`]: 'deploy/config.yaml',
  [`${documentation}/examples/config.yaml`]: 'deploy/config.yaml',
  [`usr/share/man/man1/${name}.1.gz`]: `${dist}/share/man/man1/${name}.1`,
  ...completion(`bash-completion/completions/${name}`),
  ...completion(`zsh/site-functions/_${name}`, `zsh/vendor-completions/_${name}`),
  ...completion(`fish/vendor_completions.d/${name}.fish`),
  [`usr/share/lintian/overrides/${name}`]: 'deploy/debian/lintian-overrides',
  [`${documentation}/copyright`]: 'deploy/debian/copyright',
  [`${documentation}/THIRD-PARTY-LICENSES.txt.gz`]: `${dist}/THIRD-PARTY-LICENSES.txt`,
  [`${documentation}/changelog.gz`]: 'CHANGELOG.md',
  ...examples('haproxy', 'nginx', 'caddy', 'pages', 'traefik', 'prometheus', 'grafana', 'kubernetes'),
};
const copies = Object.entries(sources).map(([path, from]) => {
  const content = readFileSync(from);
  return [path, path.endsWith('.gz') ? compressed(content) : content] as const;
});
const files: Record<string, Buffer> = {
  ...Object.fromEntries(copies),
  [`${documentation}/changelog.Debian.gz`]: compressed(Buffer.from(debianChangelog())),
  ...manuals(),
};
const modes: Record<string, number> = {
  [`usr/bin/${name}`]: 0o755,
  [`etc/${name}/config.yaml`]: 0o640,
};

const root = join(dist, 'debian', architecture);
rmSync(root, { recursive: true, force: true });
process.umask(0o022);
for (const [path, content] of Object.entries(files)) write(path, content, modes[path] ?? 0o644);
chmodSync(join(root, 'etc', name), 0o750);
write('DEBIAN/control', Buffer.from(filledIn(control)), 0o644);
write('DEBIAN/conffiles', readFileSync('deploy/debian/conffiles'), 0o644);
write('DEBIAN/md5sums', Buffer.from(checksums()), 0o644);
for (const script of ['postinst', 'prerm', 'postrm']) {
  write(`DEBIAN/${script}`, readFileSync(`deploy/debian/${script}`), 0o755);
}
const result = join(dist, `${name}_${packageVersion}_${architecture}.deb`);
execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', root, result], {
  stdio: 'inherit',
});
rmSync(root, { recursive: true });

function completion(from: string, to = from): Record<string, string> {
  return { [`usr/share/${to}`]: `${dist}/share/${from}` };
}

function examples(...folders: readonly string[]): Record<string, string> {
  const entries = folders.flatMap((folder) =>
    readdirSync(join('deploy', folder), { recursive: true, withFileTypes: true }),
  );
  const paths = entries.filter((entry) => entry.isFile()).map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(paths.map((path) => [`${documentation}/examples/${path.replace('deploy/', '')}`, path]));
}

/** The documents for users. They link to each other, and to files that are examples in the package. Links do not work in compressed pages. */
function manuals(): Record<string, Buffer> {
  return Object.fromEntries(
    userDocuments.map((file) => {
      const text = readFileSync(join('docs', file), 'utf8');
      const page = pageWithout(`docs/${file}`, text, isInPackage).replaceAll('](../deploy/', '](examples/');
      return [`${documentation}/${file}`, Buffer.from(page)];
    }),
  );
}

function isInPackage(path: string): boolean {
  const [, document] = /^docs\/(.*)$/.exec(path) ?? [];
  if (document !== undefined) return userDocuments.includes(document);
  return path.startsWith('deploy/') && Object.values(sources).includes(path);
}

function compressed(content: Buffer): Buffer {
  return gzipSync(content, { level: 9 });
}

/** @see deb-changelog(5) */
function debianChangelog(): string {
  const date = sourceDate.toUTCString().replace('GMT', '+0000');
  return `${name} (${packageVersion}) stable; urgency=medium

  * Release ${version}: changelog.gz says what is new.

 -- ${maintainer}  ${date}
`;
}

function write(path: string, content: Buffer, mode: number): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

function filledIn(template: string): string {
  const kibibytes = Object.values(files).map(({ length }) => Math.ceil(length / 1024));
  return template
    .replace('@VERSION@', packageVersion)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@MAINTAINER@', maintainer)
    .replace('@INSTALLED_SIZE@', `${kibibytes.reduce((sum, size) => sum + size, 0)}`);
}

// Leave out configuration files: dpkg keeps its own checksums for them.
function checksums(): string {
  return Object.entries(files)
    .filter(([path]) => !path.startsWith('etc/'))
    .map(([path, content]) => `${createHash('md5').update(content).digest('hex')}  ${path}\n`)
    .sort()
    .join('');
}
