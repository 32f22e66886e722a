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
      hang: 2,
      recovery: 1.5,
      providerTimeout: 1,
    });
  });

  const kinds = () => Object.keys(report.statuses);

  it('leaves the start of logins and the health of the relay alone', () => {
    const others = kinds().filter((kind) => /^(start|health) /.test(kind));
    expect(others).to.have.members(['start 307', 'health 200']);
  });

  it('costs calls their time, or refuses them while all that may be are under way', () => {
    expect(report.timedOut).to.be.greaterThan(0);
    expect(report.refused.count).to.be.greaterThan(0);
  });

  it('gets every call answered again once it has recovered', () => {
    expect(kinds().filter((kind) => kind.startsWith('call '))).to.have.members([
      'call 200',
      'call 307',
      'call 503',
      'call 504',
    ]);
    expect(report.firstAnswer).to.be.finite;
  });
});
