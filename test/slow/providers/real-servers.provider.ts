import { useBrowser } from '../../harness/browser/chromium.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { authlib } from './authlib.ts';
import { describeChecks } from './checks.ts';
import { djangoOauthToolkit } from './django-oauth-toolkit.ts';
import { describeLogins } from './logins.ts';
import { needPackages } from './packages.ts';
import type { Rig } from './rig.ts';
import { secretKinds } from './secrets.ts';
import { createWorld, type World } from './world.ts';

// OpenID Connect, and OAuth without it. The third server, oidc-provider, is in certified-provider.flow.test.ts.
const rigs = [djangoOauthToolkit, authlib];

describe('real servers', function () {
  this.timeout(60_000);
  const openPage = useBrowser();

  for (const rig of rigs) {
    for (const kind of secretKinds) {
      describe(`${rig.name} (${rig.variant}), with ${kind.name}`, () => {
        const clientSecret = kind.make();
        const world = useWorld(rig, clientSecret);
        describeLogins(rig, { openPage, world, clientSecret });
        describe('check', () => describeChecks(rig, world));
      });
    }
  }
});

/** A separate world for the enclosing suite. */
function useWorld(rig: Rig, clientSecret: string): () => World {
  before(function () {
    needPackages(this, rig.packages);
  });
  return startedOnce(
    'the server and the relay',
    () => createWorld(rig, clientSecret),
    (world) => world.close(),
  );
}
