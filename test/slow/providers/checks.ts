import { expect } from 'chai';
import { wrongConfigurations } from './mistakes.ts';
import type { Rig } from './rig.ts';
import type { World } from './world.ts';

/** Runs `login-relay check` with the right configuration, and with wrong ones. */
export function describeChecks(rig: Rig, world: () => World): void {
  it('finds no problem with the right configuration', async () => {
    expect((await world().check()).complaints).to.deep.equal([]);
  });

  for (const { wrong, cause, make } of wrongConfigurations) {
    const outcome = rig.hides.includes(wrong) ? 'not checked' : 'named';
    it(`reports what is wrong as ${outcome}: ${wrong}`, async () => {
      const mistake = await make(rig, world());
      expect((await world().check(mistake)).outcomeFor(cause)).to.equal(outcome);
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
