import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import packageJson from '../../package.json' with { type: 'json' };
import { createProgram } from '../../src/cli/program.ts';
import { projectRoot } from '../harness/project/run.ts';

/**
 * The texts that readers and users see: documents, templates, examples, the texts of the program, and the files that
 * build it.
 */
const tracked = execFileSync('git', ['ls-files'], { cwd: projectRoot, encoding: 'utf8' }).split('\n');
const texts = tracked
  .filter((path) => !/^(test|bench|fuzz|node_modules)\/|lock|\.(svg|br|gz|tgz|png|woff2)$/.test(path))
  .filter((path) => path !== '' && existsSync(join(projectRoot, path)))
  .map((path) => [path, readFileSync(join(projectRoot, path), 'utf8')] as const);
const documents = texts.filter(([path]) => path.endsWith('.md'));

/** Every match of a pattern's first group, with the file where it is. */
function named(pattern: RegExp, within = texts): readonly (readonly [string, string])[] {
  return within.flatMap(([path, text]) => [...text.matchAll(pattern)].map(([, what = '']) => [path, what] as const));
}

const unlike = (exists: (what: string) => boolean, found: ReturnType<typeof named>) =>
  found.filter(([, what]) => !exists(what)).map(([path, what]) => `${path}: ${what}`);

/** Hosts of others, of whom the text says something. Those of code hosting are below. */
const hosts: ReadonlySet<string> = new Set([
  'abcdefghijklmnopabcdefghijklmnop.chromiumapp.org',
  'accounts.google.com',
  'console.cloud.google.com',
  'developers.google.com',
  'oauth2.googleapis.com',
  'openidconnect.googleapis.com',
  'cloud.google.com',
  'auth0.com',
  'manage.auth0.com',
  'developer.okta.com',
  'www.keycloak.org',
  'login.microsoftonline.com',
  'graph.microsoft.com',
  'learn.microsoft.com',
  'slack.com',
  'api.slack.com',
  'docs.slack.dev',
  'www.linkedin.com',
  'api.linkedin.com',
  'discord.com',
  'docs.discord.com',
  'cdn.discordapp.com',
  'x.com',
  'api.x.com',
  'api.notion.com',
  'id.twitch.tv',
  'dev.twitch.tv',
  'api.github.com',
  'docs.github.com',
  'gitlab.com',
  'docs.gitlab.com',
  'codeberg.org',
  'forgejo.org',
  'docs.gitea.com',
  'bitbucket.org',
  'api.bitbucket.org',
  'developer.atlassian.com',
  'decapcms.org',
  'supabase.com',
  'www.better-auth.com',
  'www.w3.org',
  'json-schema.org',
  'html.spec.whatwg.org',
  'publicsuffix.org',
  'cyclonedx.org',
  'nodejs.org',
  'www.debian.org',
  'reproducible-builds.org',
  'www.cloudflare.com',
  // The notes of a release.
  'docs.sigstore.dev',
  'token.actions.githubusercontent.com',
]);
const repositories: ReadonlySet<string> = new Set([
  'login/oauth',
  'settings/applications',
  'settings/apps',
  'oauth2-proxy/oauth2-proxy',
  'simov/grant',
  'fastify/fastify-oauth2',
  'panva/oauth4webapi',
  'authts/oidc-client-ts',
  'soofstad/react-oauth2-pkce',
  'badgateway/oauth2-client',
  'actions/checkout',
]);
const ofTheReader =
  /^\*|[A-Z]{3,}|^(?:[\w.-]+\.)?(?:example|example\.\w+|localhost|invalid|okta\.com|zitadel\.cloud|b2clogin\.com|identity\.oraclecloud\.com)$|^[\d.]+$|^[\w-]*$/;

describe('the things that the texts name', () => {
  it('are addresses of others that exist, or marked as the reader’s own', () => {
    const own = 'repository' in packageJson ? `${packageJson.repository}` : undefined;
    const found = named(/(?<=https?:\/\/)([\w.*-]+(?:\/[\w.-]+){0,2})/g);
    const exists = (address: string) => {
      const [host = '', ...path] = address.replace(/\.$/, '').split('/');
      if (own?.startsWith(`https://${address}`)) return true;
      if (host === 'github.com' && path.length > 0) return repositories.has(path.join('/'));
      return hosts.has(host) || ofTheReader.test(host) || host === 'github.com';
    };
    expect(unlike(exists, found)).to.deep.equal([]);
  });

  it('are npm packages that tests install, or packages that a relay serves', () => {
    const locks = globSync('{.,test/slow/*,test/slow/clients/programs,bench/*}/package-lock.json', {
      cwd: projectRoot,
    });
    const installed = locks.map((lock) => readFileSync(join(projectRoot, lock), 'utf8'));
    const commands = named(/\b(?:npm (?:i|install|add)|npx|pnpm add|yarn add)((?: [\w@./:$%{}-]+)+)/g, documents);
    const found = commands.flatMap(([path, words]) =>
      words
        .trim()
        .split(' ')
        .map((word) => [path, word] as const),
    );
    const exists = (word: string) =>
      /^https?:|^-|^\.\/|^serve$|^\d+$|^dist$/.test(word) ||
      installed.some((lock) => lock.includes(`"node_modules/${word}"`));
    expect(found).not.to.be.empty;
    expect(unlike(exists, found)).to.deep.equal([]);
  });

  it('are Debian packages that exist, or the package that make package builds', () => {
    const found = named(/apt(?:-get)? install((?: [\w./-]+)+)/g, documents).flatMap(([path, words]) =>
      words
        .trim()
        .split(' ')
        .map((word) => [path, word] as const),
    );
    const known = 'git nodejs npm make libatomic1 caddy binutils llvm xz-utils dpkg-dev'.split(' ');
    const exists = (word: string) => known.includes(word) || /^\.\/dist\/login-relay_/.test(word);
    expect(unlike(exists, found)).to.deep.equal([]);
  });

  it('are images that exist, or the image that the reader builds', () => {
    const found = named(/^ *(?:- )?(?:image|newName|FROM):? (?:\$\{\w+:-)?([\w./-]+)/gm);
    const known = ['valkey/valkey', 'caddy', 'scratch', 'login-relay', 'registry.example.com/login-relay'];
    expect(unlike((image) => known.includes(image), found)).to.deep.equal([]);
    expect(named(/((?:ghcr|quay|docker)\.io)/g)).to.deep.equal([]);
  });

  it('are commands of the relay', () => {
    const program = createProgram(Object.create(null), () => {});
    const commands = program.commands.map((command) => command.name());
    const found = named(/(?:`|sudo |\/|\| )login-relay ([a-z][a-z-]*)/g, documents);
    expect(found).not.to.be.empty;
    expect(unlike((name) => ['help', ...commands].includes(name), found)).to.deep.equal([]);
  });
});
