import { expect } from 'chai';
import { measure, type Report } from '../../bench/hanging-provider/measure.ts';
import { relayCommand } from '../support/relay-process.ts';

describe('a provider that hangs', () => {
  let report: Report;
  before(async function () {
    this.timeout(60_000);
    report = await measure(relayCommand, {
      warmUp: 0.2,
      idle: 0.5,
      hang: 1.5,
      recovery: 1,
      // Longer than it hangs: whatever is in flight stays so.
      providerTimeout: 30,
    });
  });

  const kinds = () => Object.keys(report.statuses);

  it('leaves the start of logins and the health of the relay alone', () => {
    const others = kinds().filter((kind) => /^(start|health) /.test(kind));
    expect(others).to.have.members(['start 307', 'health 200']);
  });

  it('has further calls refused while all that may be are in flight', () => {
    expect(report.refused.count).to.be.greaterThan(0);
  });

  it('gets every call answered again once it has recovered', () => {
    const calls = kinds().filter((kind) => kind.startsWith('call '));
    expect(calls).to.have.members(['call 200', 'call 307', 'call 503']);
    expect(report.timedOut).to.equal(0);
    expect(report.firstAnswer).to.be.finite;
  });
});
