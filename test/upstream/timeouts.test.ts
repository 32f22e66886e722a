import { mock } from 'node:test';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { startApiTimeout, type TransferTimeout } from '../../src/upstream/timeouts.ts';

const { apiPace, apiOrdinaryPace, apiCallTime } = limits;
const silence = 10_000_000;

describe('the timeout of a transfer', () => {
  let isClientsTurn: boolean;
  let outcome: string | undefined;
  let timeout: TransferTimeout;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    isClientsTurn = true;
    outcome = undefined;
    timeout = startApiTimeout(
      silence,
      () => (isClientsTurn ? 'read' : undefined),
      (code) => {
        outcome = code;
      },
    );
  });
  afterEach(() => {
    timeout.stop();
    mock.timers.reset();
  });

  /** Lets bytes pass every so many seconds. */
  function pass(bytes: number, every: number, minutes: number): void {
    for (let second = 0; second < minutes * 60; second += every) {
      timeout.renew(bytes);
      mock.timers.tick(every * 1000);
    }
  }

  it('ends in about a minute if the client lets nothing pass', () => {
    mock.timers.tick(40_000);
    expect(outcome).to.equal(undefined);
    mock.timers.tick(40_000);
    expect(outcome).to.equal('request_timeout');
  });

  it('ends if the client reads 4 KiB every 8 s', () => {
    pass(4096, 8, 3);
    expect(outcome).to.equal('request_timeout');
  });

  it('also ends after a fast beginning', () => {
    timeout.renew(13_000_000);
    pass(4096, 8, 3);
    expect(outcome).to.equal('request_timeout');
  });

  it('does not end for a client with a slow line, whose bytes come in bursts', () => {
    for (const seconds of [1, 8, 20, 40]) {
      pass((2 * apiPace * seconds) / 60, seconds, 2);
      expect(outcome, `${seconds} s`).to.equal(undefined);
      expect(timeout.pace()).to.be.within(apiPace, apiOrdinaryPace);
    }
  });

  it('does not count a client that waits for the API', () => {
    isClientsTurn = false;
    pass(1, 10, 5);
    expect(outcome).to.equal(undefined);
    expect(timeout.pace()).to.equal(apiOrdinaryPace);
  });

  it('ends at the limit of time', () => {
    pass(apiOrdinaryPace, 10, apiCallTime / 60_000 - 1);
    expect(outcome).to.equal(undefined);
    pass(apiOrdinaryPace, 10, 1);
    expect(outcome).to.equal('request_timeout');
  });
});
