import { expect } from 'chai';
import { createGenerations } from '../../src/grants/rotation-and-reuse.ts';
import { codeOf } from '../harness/expect/failure-code.ts';

const month = 30 * 86_400_000;

describe('the generations of refresh tokens', () => {
  let seconds: number;
  let generations: ReturnType<typeof createGenerations>;
  const first = { number: 0, since: 0 };
  const restart = () => createGenerations({ now: () => seconds * 1000 });
  beforeEach(() => {
    seconds = 30;
    generations = restart();
  });
  const next = async (given: typeof first) => await generations.rotate('login', given, month);
  const last = async (given: typeof first) => await generations.requireUsable('login', given).catch(codeOf);

  it('are replaced after half a minute, and good for a minute more', async () => {
    const second = await next(first);
    expect(second).to.deep.equal({ number: 1, since: 30 });
    seconds = 59;
    expect(await next(second)).to.equal(second);
    seconds = 60;
    const third = await next(second);
    seconds = 89;
    expect([await last(first), await last(second)]).to.deep.equal([third, third]);
    seconds = 90;
    expect([await last(first), await last(second)]).to.deep.equal(['refresh_reused', third]);
  });

  it('end at the third last generation, however long ago the last generation was replaced', async () => {
    const second = await next(first);
    seconds = 60;
    const third = await next(second);
    seconds = 90;
    const fourth = await next(third);
    expect(await last(first)).to.equal('refresh_reused');
    expect(await last(third)).to.deep.equal(fourth);
  });

  it('stay replaced however often another login replaces its own', async () => {
    await next(first);
    let other = first;
    for (let times = 0; times < 20_000; times += 1) {
      seconds += 30;
      other = await generations.rotate('other', other, month);
    }
    expect(await last(first)).to.equal('refresh_reused');
  });

  it('are known again after a restart from the first newer generation on', async () => {
    const second = await next(first);
    seconds = 60;
    const third = await next(second);
    seconds = 600;
    generations = restart();
    // The thief refreshes first, and the relay cannot know that.
    const ofThief = await next(first);
    seconds = 700;
    expect(await last(third)).to.equal(third);
    await next(third);
    expect(await last(ofThief)).to.equal('refresh_reused');
  });

  it('accept tokens after a restart that were replaced a moment before it', async () => {
    const second = await next(first);
    generations = restart();
    seconds = 60;
    const third = await next(second);
    expect(await last(first)).to.deep.equal(third);
  });

  it('are over with their login, also for a refresh in flight', async () => {
    await generations.end('login', month);
    expect(await last(first)).to.equal('grant_invalid');
    const refused = await next(first).catch(codeOf);
    expect(refused).to.equal('grant_invalid');
  });
});
