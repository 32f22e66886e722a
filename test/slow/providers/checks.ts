import { expect } from 'chai';
import type { Matrix } from './matrix.ts';
import { wrongConfigurations } from './mistakes.ts';
import type { Rig } from './rig.ts';
import type { World } from './world.ts';

/** Runs `login-relay check` with the right configuration, and with wrong ones. */
export function describeChecks(rig: Rig, matrix: Matrix, world: () => World): void {
  it('finds no problem with the right configuration', async () => {
    await matrix.attempt(rig.name, 'right configuration', async () => {
      const { complaints } = await world().check();
      expect(complaints).to.deep.equal([]);
      return 'yes';
    });
  });

  for (const { column, cause, make } of wrongConfigurations) {
    it(`names the cause, or reports it as not checked: ${column}`, async () => {
      const mistake = await make(rig, world());
      await matrix.attempt(rig.name, column, async () => {
        const outcome = (await world().check(mistake)).outcomeFor(cause);
        if (!rig.hides.includes(column)) expect(outcome).to.equal('named');
        return outcome;
      });
    });
  }

  it('reports no problem after its advice on --token-request is followed', async () => {
    const { check } = world();
    const wrong = await check({ flags: { 'token-request': rig.wrongTokenRequest } });
    if (wrong.outcomeFor(/--token-request/) === 'not checked') return;
    const followed = await check({ flags: { 'token-request': wrong.advisedTokenRequest } });
    expect(followed.complaints).to.deep.equal([]);
  });
}
