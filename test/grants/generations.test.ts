import { expect } from 'chai';
import { createGenerations, firstGeneration } from '../../src/grants/refresh-tokens.ts';

describe('a generation of refresh tokens', () => {
  it('stays replaced however often another login replaces its own', async () => {
    const clock = { time: 0 };
    const generations = createGenerations({ now: () => clock.time });
    const first = firstGeneration();
    await generations.replace(first, 1e9);
    let other = firstGeneration();
    for (let times = 0; times < 20_000; times += 1) other = await generations.replace(other, 1e9);
    clock.time = 60_001;
    const refused = await generations.last(first).catch((error: Error) => error);
    expect(refused).to.be.an('error').and.include({ code: 'grant_invalid' });
    expect(await generations.last(other)).to.equal(other);
  });
});
