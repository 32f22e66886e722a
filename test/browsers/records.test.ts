import { expect } from 'chai';
import { formatForPeople } from '../../src/observability/pretty-log.ts';
import { createMetrics } from '../../src/observability/request-metrics.ts';
import { navigationWith } from '../harness/browser/fake-browser.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { ada, doorRelay, fetching, settings, wiki } from './support/door-relay.ts';

describe('the log and metrics of a browser at a resource', () => {
  const metrics = createMetrics(() => ({ callsInFlight: 0, ready: true, providers: [] }));
  const relay = doorRelay({ ...settings, surroundings: { observers: [metrics.observe] } });

  /** The lines of the log for people since the last call, and the outcome of each line. */
  const said = () =>
    relay()
      .lines.splice(0)
      .filter(({ msg }) => msg === 'request')
      .map((line) => {
        const text = formatForPeople(JSON.stringify({ time: '2026-01-02T03:04:05.678Z', ...line })).split('\n');
        return [line['action'], line['outcome'], text[1]?.trim()];
      });

  it('names each step of a login once', async () => {
    const person = relay().person();
    relay().lines.length = 0;
    await person.visit(`${wiki}/`);
    expect(said()).to.deep.equal([
      ['check', 'login_started', 'the answer leads to the login'],
      ['start', 'ok', 'on to the provider'],
      ['callback', 'ok', 'back to the page, with a code'],
      ['door-callback', 'ok', 'logged in, the browser gets its cookie'],
      ['door-callback', 'ok', 'back to the page'],
      ['check', 'ok', 'the request may pass'],
    ]);
    const answered = { endpoint: 'answer' };
    await relay().check(`${wiki}/`, navigationWith('Sec-Fetch-Site', 'none'), answered);
    const cookie: [string, string] = ['Cookie', person.jar.headerFor(new URL(wiki))];
    await relay().check(`${wiki}/`, [...navigationWith('Sec-Fetch-Site', 'none'), cookie], answered);
    expect(said()).to.deep.equal([
      ['check-answer', 'login_started', 'on to the login'],
      ['check-answer', 'ok', 'back to the page'],
    ]);
  });

  it('tells a question before a logout from the page after it', async () => {
    const person = relay().person();
    await person.visit(`${wiki}/`);
    relay().lines.length = 0;
    await person.open(`${wiki}/.login-relay/logout`);
    await person.open(`${wiki}/.login-relay/logout`, navigationWith('Sec-Fetch-Site', 'same-origin'), 'POST', '');
    await person.open(`${wiki}/.login-relay/logout`);
    expect(said()).to.deep.equal([
      ['door-logout', 'ok', 'the person is asked first'],
      ['door-logout', 'ok', 'the browser is logged out'],
      ['door-logout', 'ok', 'nobody is logged in'],
    ]);
  });

  for (const isLogged of [false, true]) {
    it(`${isLogged ? 'names a refused person with' : 'does not name a refused person without'} log-people`, async () => {
      await relay().reload({ ...settings, relay: `log-people: ${isLogged}\n${settings.relay}` });
      relay().provider.knows(json({ ...ada, sub: '7' }));
      const page = await relay().person().visit(`${wiki}/`);
      expect(page.status).to.equal(403);
      const line = relay().lines.findLast(({ outcome }) => outcome === 'access_refused');
      expect(line).to.include({ action: 'door-callback', access: 'refused', refusedBy: 'resources.wiki' });
      expect(line?.['person']).to.equal(isLogged ? '7' : undefined);
      relay().provider.knows(json(ada));
      await relay().reload({ ...settings, surroundings: { observers: [metrics.observe] } });
    });
  }

  it('counts the start of a login apart from what passes, and logs it without a warning', async () => {
    const person = relay().person();
    await person.visit(`${wiki}/`);
    await person.open(`${wiki}/x`, fetching);
    const line = relay().lines.findLast(({ outcome }) => outcome === 'login_started');
    expect(line).to.include({ level: 30, status: 302, resource: 'wiki' });
    const text = await metrics.text();
    const count = (outcome: string) =>
      Number(
        new RegExp(`login_relay_resource_requests_total\\{resource="wiki",outcome="${outcome}"\\} (\\d+)`).exec(
          text,
        )?.[1],
      );
    const openings = /login_relay_resource_openings_total\{resource="wiki",by="cookie"\} (\d+)/.exec(text)?.[1];
    expect(count('login_started')).to.be.above(0);
    expect(count('ok')).to.equal(Number(openings));
  });
});
