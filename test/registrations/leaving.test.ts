import { expect } from 'chai';
import { pino } from 'pino';
import { type Config, readConfig } from '../../src/config/config.ts';
import { type LeavingRegistration, leavingAfter } from '../../src/relay/leaving.ts';
import { createMemory } from '../../src/relay/memory.ts';
import { createRelay } from '../../src/relay/relay.ts';
import { send } from '../harness/client/http-client.ts';
import { expectError } from '../harness/expect/expectations.ts';
import { serve } from '../harness/provider/serve.ts';

const minute = 60_000;
const start = Date.UTC(2026, 0, 1);

/** A configuration with registrations of these names. */
function configOf(names: readonly string[], provider = 'provider: github'): Config {
  const entries = names.map(
    (name) => `  ${name}: { client-id: of-${name}, client-secret: ${name}, ${provider} }\n`,
  );
  const text = `base-url: https://relay.example
providers:
${entries.join('')}front-ends:
  app: { origin: https://app.example }
`;
  const sources = { flags: { config: ['config.yaml'] }, environment: {} };
  const readFile = () => ({ text, readableByOthers: false });
  return readConfig({ ...sources, readFile }).config;
}

const namesOf = (leaving: readonly LeavingRegistration[]) =>
  leaving.map(({ registered: { name } }) => name);

describe('the registrations that reloads have removed', () => {
  const memory = createMemory(() => start);

  it('are those that have logins: ten minutes for the state, and one for the code', () => {
    const next = configOf(['one']);
    const leaving = leavingAfter(
      { config: configOf(['one', 'two']), leaving: [] },
      next,
      memory,
      start,
    );
    expect(namesOf(leaving)).to.deep.equal(['two']);
    expect(leaving[0]?.until).to.equal(start + 11 * minute);
    const leftAt = (time: number) =>
      namesOf(leavingAfter({ config: next, leaving }, next, memory, time));
    expect(leftAt(start + 11 * minute - 1)).to.deep.equal(['two']);
    expect(leftAt(start + 11 * minute)).to.deep.equal([]);
  });

  it('do not have the name of one that is configured', () => {
    const both = configOf(['one', 'two']);
    const leaving = leavingAfter({ config: both, leaving: [] }, configOf(['one']), memory, start);
    expect(leavingAfter({ config: configOf(['one']), leaving }, both, memory, start)).to.deep.equal(
      [],
    );
  });

  it('are 100 at most, the last ones', () => {
    let leaving: readonly LeavingRegistration[] = [];
    for (let index = 0; index < 120; index += 1) {
      const next = configOf([`r${index + 1}`]);
      leaving = leavingAfter({ config: configOf([`r${index}`]), leaving }, next, memory, start);
    }
    expect(leaving).to.have.lengthOf(100);
    expect(namesOf(leaving).at(-1)).to.equal('r119');
  });

  it('are not those without a state check, whose logins cannot be told apart', () => {
    const before = {
      config: configOf(['one', 'two'], 'provider: github, state-check: off'),
      leaving: [],
    };
    expect(leavingAfter(before, configOf(['one']), memory, start)).to.deep.equal([]);
  });

  it('are not those whose provider was never discovered', () => {
    const discovered = 'issuer: https://id.example';
    const before = { config: configOf(['one', 'two'], discovered), leaving: [] };
    expect(leavingAfter(before, configOf(['one'], discovered), memory, start)).to.deep.equal([]);
  });

  it('have no paths once their time is over', async () => {
    const next = configOf(['one']);
    const leaving = leavingAfter(
      { config: configOf(['one', 'two']), leaving: [] },
      next,
      memory,
      start,
    );
    let now = start;
    const surroundings = { now: () => now, memory, leaving };
    const relay = await createRelay(next, pino({ enabled: false }), surroundings);
    const server = await serve(relay.listener);
    try {
      const callback = { path: '/auth/two/callback?code=any' };
      expectError(await send(server.port, callback), 400);
      now += 11 * minute;
      expectError(await send(server.port, callback), 404);
    } finally {
      relay.close();
      await server.close();
    }
  });
});
