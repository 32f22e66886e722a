import { useBrowser } from '../../harness/browser/chromium.ts';
import { authlib } from './authlib.ts';
import { describeChecks } from './checks.ts';
import { djangoOauthToolkit } from './django-oauth-toolkit.ts';
import { describeLogins } from './logins.ts';
import { Matrix } from './matrix.ts';
import { needPackages } from './packages.ts';
import type { Rig } from './rig.ts';
import { secretKinds } from './secrets.ts';
import { createWorld, type World } from './world.ts';

// OpenID Connect, and OAuth without it. The third server, oidc-provider, is in certified-provider.flow.test.ts.
const rigs = [djangoOauthToolkit, authlib];

describe('real servers', function () {
  this.timeout(60_000);
  const openPage = useBrowser();
  const matrix = new Matrix();

  after('write what came of it', async () => {
    const document = process.env['PROVIDERS_MATRIX'];
    const complete = matrix.covers(rigs.map(({ name }) => name));
    if (document !== undefined && complete) await matrix.writeInto(document);
  });

  for (const rig of rigs) {
    for (const kind of secretKinds) {
      describe(`${rig.name} (${rig.variant}), with ${kind.name}`, () => {
        const clientSecret = kind.make();
        const world = useWorld(rig, clientSecret);
        describeLogins(rig, matrix, { openPage, world, clientSecret });
        describe('check', () => describeChecks(rig, matrix, world));
      });
    }
  }
});

/** A separate world for the enclosing suite. */
function useWorld(rig: Rig, clientSecret: string): () => World {
  let world: World | undefined;
  before('start the server and the relay', async function () {
    needPackages(this, rig.packages);
    world = await createWorld(rig, clientSecret);
  });
  after('stop them', async () => await world?.close());
  return () => {
    if (world === undefined) throw new Error('the world has not been created yet');
    return world;
  };
}
