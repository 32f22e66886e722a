import { expect } from 'chai';
import { createMetrics } from '../../src/observability/request-metrics.ts';
import {
  bearer,
  check,
  files,
  introspect,
  logIn,
  notes,
  ofApp,
  resourcesRelay,
  settings,
  tokensOf,
} from './support/resources-relay.ts';

const metrics = createMetrics(() => ({ callsInFlight: 0, ready: true, providers: [] }));
const observed = { ...settings, surroundings: { observers: [metrics.observe] } };

/** The counts of questions whether a token opens a resource. */
async function counts(): Promise<Readonly<Record<string, string>>> {
  const lines = (await metrics.text()).matchAll(
    /^login_relay_resource_requests_total\{resource="(\w+)",outcome="(\w+)"\} (\d+)$/gm,
  );
  return Object.fromEntries([...lines].map(([, of, outcome, count = '']) => [`${of} ${outcome}`, count]));
}

describe('the log and metrics of a resource', () => {
  const relay = resourcesRelay(observed);

  for (const isLogged of [false, true]) {
    it(`name the resource, and ${isLogged ? 'with log-people also' : 'not'} the person who uses it`, async () => {
      await relay().restart({ ...observed, relay: `log-people: ${isLogged}\n${settings.relay}` });
      relay().lines.length = 0;
      const first = tokensOf(await logIn(relay(), { ...ofApp, resource: notes }));
      const { access_token } = tokensOf(await relay().refresh('app', first.refresh_token));
      await check(relay(), 'notes', bearer(access_token));
      await introspect(relay(), 'notes', access_token);
      await relay().post('revoke', { client_id: 'app', token: access_token });
      await check(relay(), 'notes', bearer(access_token));
      const seen = relay().lines.filter(({ action }) => /^(token|check|introspect|revoke)$/.test(`${action}`));
      const person = isLogged ? '42' : undefined;
      expect(
        seen.map(({ action, resource, person: who, by, outcome, level }) => [
          action,
          resource,
          who,
          by,
          outcome,
          level,
        ]),
      ).to.deep.equal([
        ['token', 'notes', person, undefined, 'ok', 30],
        ['token', 'notes', person, undefined, 'ok', 30],
        ['check', 'notes', person, 'token', 'ok', 20],
        ['introspect', 'notes', person, 'token', 'ok', 30],
        ['revoke', 'notes', person, undefined, 'ok', 30],
        ['check', 'notes', undefined, undefined, 'resource_token_invalid', 30],
      ]);
      const log = JSON.stringify(relay().lines);
      for (const secret of [access_token, first.refresh_token, 'ada@example.com', 'staff']) {
        expect(log).not.to.include(secret);
      }
    });
  }

  it('distinguish an expired token from a wrong token, at both doors', async () => {
    const { access_token } = tokensOf(await logIn(relay(), { ...ofApp, resource: files }));
    const before = await counts();
    const ask = async (token: string) => {
      await check(relay(), 'files', bearer(token));
      await introspect(relay(), 'files', token);
    };
    await ask(access_token);
    await ask('junk');
    relay().ahead += 301_000;
    await ask(access_token);
    await check(relay(), 'files');
    const after = await counts();
    const added = Object.entries(after).map(([name, count]) => [name, Number(count) - Number(before[name] ?? 0)]);
    expect(Object.fromEntries(added.filter(([, count]) => count !== 0))).to.deep.equal({
      'files ok': 2,
      'files resource_token_invalid': 2,
      'files resource_token_expired': 2,
      'files resource_token_missing': 1,
    });
    expect(await metrics.text()).to.match(/^login_relay_resource_openings_total\{resource="files",by="token"\} \d+$/m);
    expect(relay().lines.filter(({ action, level }) => action === 'introspect' && level !== 30)).to.deep.equal([]);
  });
});
