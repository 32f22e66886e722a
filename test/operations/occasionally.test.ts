import { expect } from 'chai';
import { occasionally } from '../../src/observability/occasional-warnings.ts';

describe('a callback that runs occasionally', () => {
  let time = 0;
  let runs: string[];
  let atTimes: (subject: string) => void;
  beforeEach(() => {
    time = 0;
    runs = [];
    const run = occasionally(() => time);
    atTimes = (subject) => run(subject, () => runs.push(subject));
  });

  it('runs once a minute for one subject', () => {
    for (time of [0, 1, 59_999, 60_000, 119_999, 120_000]) atTimes('a');
    expect(runs).to.deep.equal(['a', 'a', 'a']);
  });

  it('runs for each subject', () => {
    for (const subject of ['a', 'b', 'a', 'b']) atTimes(subject);
    expect(runs).to.deep.equal(['a', 'b']);
  });

  it('runs for 20 subjects a minute at most', () => {
    for (let index = 0; index < 100_000; index += 1) atTimes(`${index}`);
    expect(runs).to.have.length(20);
    time = 60_000;
    for (let index = 0; index < 100_000; index += 1) atTimes(`${index}`);
    expect(runs).to.have.length(40);
  });
});
