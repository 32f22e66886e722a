import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { useBrowser } from '../../harness/browser/chromium.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { authlib } from './authlib.ts';
import { djangoOauthToolkit } from './django-oauth-toolkit.ts';
import { describeLogins } from './logins.ts';
import { createWorld } from './world.ts';

// OpenID Connect, and OAuth without it. The third server, oidc-provider, is in certified-provider.flow.test.ts.
const rigs = [djangoOauthToolkit, authlib];

/** Typical secrets. HTTP Basic authentication treats each in a different way. */
const secretKinds = [
  { name: 'a secret from openssl rand -base64 24', make: awkwardSecret },
  {
    name: 'a secret with a space and a colon',
    make: () => `${randomBytes(6).toString('hex')} and: ${randomBytes(6).toString('hex')}`,
  },
];

describe('real servers', () => {
  const openPage = useBrowser();

  for (const rig of rigs) {
    for (const kind of secretKinds) {
      describe(`${rig.name} (${rig.variant}), with ${kind.name}`, () => {
        const clientSecret = kind.make();
        before('the packages are installed', function () {
          needPackages(this, rig.packages);
        });
        const world = startedOnce(
          'the server and the relay',
          () => createWorld(rig, clientSecret),
          (one) => one.close(),
        );
        describeLogins(rig, world, openPage, clientSecret);
        it('is found right by login-relay check', async () => {
          expect(await world().complaints()).to.deep.equal([]);
        });
      });
    }
  }
});

/** 24 random bytes in base64, with both characters that have a meaning in a form. */
function awkwardSecret(): string {
  for (;;) {
    const secret = randomBytes(24).toString('base64');
    if (secret.includes('+') && secret.includes('/')) return secret;
  }
}

/** Skips the suite if one of these Debian packages is not installed; on CI it fails. */
function needPackages(suite: Context, packages: readonly string[]): void {
  const missing = packages.filter((name) => {
    // Null if the command does not exist, because the machine is not Debian.
    const stdout: string | null = spawnSync('dpkg-query', ['--status', name], {
      encoding: 'utf8',
    }).stdout;
    return !stdout?.includes('\nStatus: install ok installed\n');
  });
  if (missing.length === 0) return;
  const message = `install them first: apt-get install ${missing.join(' ')}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`    skipped: ${message}\n`);
  suite.skip();
}
