import { expect } from 'chai';
import { attack } from '../../../fuzz/hostile/attack.ts';
import { type Battlefield, openBattlefield } from '../../../fuzz/hostile/battlefield.ts';
import { startHonestClient } from '../../../fuzz/hostile/honest.ts';
import { startHostileProvider } from '../../../fuzz/hostile/hostile-provider.ts';
import { startObligingProvider } from '../../../fuzz/hostile/obliging-provider.ts';
import { endure } from '../../../fuzz/hostile/ordeal.ts';

// The whole of it is make fuzz. Another seed each time; a failure names it.
const seed = Date.now() % 1_000_000;

describe('a relay among enemies', function () {
  this.timeout(120_000);
  let field: Battlefield | undefined;
  afterEach(async () => {
    await field?.close();
    const faults = field?.relay.faults;
    field = undefined;
    expect(faults, `seed ${seed}`).to.deep.equal([]);
  });

  it('answers hostile requests as it should, and everyone else meanwhile', async () => {
    const provider = await startObligingProvider();
    field = await openBattlefield(provider);
    const { relay, targets, material } = field;
    const honest = startHonestClient(relay.port);
    const report = await attack({
      port: relay.port,
      targets,
      material,
      seed,
      requests: 3000,
      connections: 8,
    });
    const { requests, refused } = await honest.observe();
    await honest.stop();
    expect([...report.faults, ...provider.faults]).to.deep.equal([]);
    expect(provider.calls).to.have.all.keys('callback', 'redemption', 'refresh', 'revocation');
    expect(report.answered).to.be.greaterThan(report.sent / 2);
    expect(refused).to.deep.equal([]);
    expect(requests).to.be.greaterThan(0);
  });

  it('makes of hostile answers what it should, and serves everyone else meanwhile', async () => {
    const provider = await startHostileProvider(seed);
    field = await openBattlefield(provider, { 'provider-timeout': '3' });
    const honest = startHonestClient(field.relay.port);
    const { port } = field.relay;
    const { targets } = field;
    const report = await endure({ port, targets, provider, answers: 1000, calls: 16 });
    const { requests, refused } = await honest.observe();
    await honest.stop();
    expect(report.faults, `seed ${seed}`).to.deep.equal([]);
    expect(refused, `seed ${seed}`).to.deep.equal([]);
    expect(requests).to.be.greaterThan(0);
    expect(provider.answers).to.be.at.least(1000);
  });
});
