import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createRefreshes } from '../../src/grants/refresh-once.ts';
import { createCounters } from '../../src/memory/counters.ts';
import { createHighestLists } from '../../src/memory/highest-lists.ts';
import type { Home } from '../../src/memory/home.ts';
import { createMarks, createOnce } from '../../src/memory/marks.ts';
import type { RefreshGrant } from '../../src/oauth/token-request.ts';
import { MemoryServer, memoryProgram } from '../harness/system/memory-server.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { needsPrograms } from '../harness/system/needs.ts';
import { sharedHome } from '../harness/system/shared-home.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 40);
const minute = 60_000;
const relays = 3;
const keys = [randomBytes(32)] as const;

/** The memory of a relay. */
function memoriesOf(home: Home, run: string) {
  return {
    marks: createMarks(home, { letter: 'm', most: 100 }),
    once: createOnce(home, { letter: 'o', lifetime: minute, most: 100 }, () => 'again'),
    highest: createHighestLists(home, { letter: 'h', most: 100 }),
    counters: createCounters(home, { name: `counter ${run}`, lifetime: minute }),
    refreshes: createRefreshes(home),
  };
}

type Memories = ReturnType<typeof memoriesOf>;

/** A provider with rotation and reuse detection, which fails at times. */
class Provider {
  calls = 0;
  /** Resolves once every relay has sent what it was asked to send before. */
  readonly #othersWait: () => Promise<unknown>;
  #newest = 0;
  #isRevoked = false;
  readonly #fails: ReadonlySet<number>;

  constructor(fails: readonly number[], othersWait: () => Promise<unknown>) {
    this.#fails = new Set(fails);
    this.#othersWait = othersWait;
  }

  readonly answer = async ({ refreshToken, scope }: RefreshGrant) => {
    this.calls += 1;
    const { calls } = this;
    await this.#othersWait();
    if (this.#fails.has(calls)) throw new RelayError('provider_unreachable');
    this.#isRevoked ||= !refreshToken.endsWith(` ${this.#newest}`);
    if (this.#isRevoked) throw new RelayError('refresh_refused');
    this.#newest += 1;
    return {
      accessToken: `access ${this.#newest}`,
      tokenType: 'bearer',
      // So short that no result is repeated for its own refresh token.
      expiresIn: 60,
      refreshToken: refreshToken.replace(/ \d+$/, ` ${this.#newest}`),
      refreshExpiresIn: undefined,
      scope,
    };
  };
}

const step = fc.oneof(
  fc.record({
    kind: fc.constantFrom('mark', 'isMarked', 'unmark', 'count', 'once', 'fail'),
    key: fc.nat({ max: 3 }),
  }),
  /** Tabs that refresh at once with the same token, which is the newest or the previous token. */
  fc.record({
    kind: fc.constant('refresh'),
    tabs: fc.integer({ min: 1, max: 6 }),
    age: fc.nat({ max: 1 }),
  }),
  fc.record({ kind: fc.constant('revoke') }),
  fc.record({ kind: fc.constant('raise'), key: fc.nat({ max: 1 }), number: fc.nat({ max: 12 }) }),
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Run {
  run: string;
  history: readonly Step[];
  fails: readonly number[];
  /** The relay of each request. */
  at: (turn: number) => Memories;
  othersWait: () => Promise<unknown>;
}

/** The answers of the relays to a history. */
async function answersOf({ run, history, fails, at, othersWait }: Run): Promise<unknown[]> {
  const provider = new Provider(fails, othersWait);
  const tokens = [`${run} 0`];
  const owner = { login: run, owner: ['provider', 'app'] as const, scope: undefined };
  let turn = 0;
  const next = () => {
    turn += 1;
    return at(turn);
  };

  async function answerTo(one: Step): Promise<unknown> {
    if (one.kind === 'revoke') {
      const ended = await next().refreshes.endAndTakeNewest({
        ...owner,
        refreshToken: tokens.at(-1) ?? '',
      });
      return ended?.accessToken;
    }
    if ('tabs' in one) {
      const before = provider.calls;
      const refreshToken = tokens.at(-1 - one.age) ?? tokens[0] ?? '';
      const got = await Promise.all(
        Array.from({ length: one.tabs }, () =>
          next()
            .refreshes.refreshOnce({ ...owner, refreshToken }, provider.answer)
            .catch(codeOf),
        ),
      );
      for (const result of got) {
        if (typeof result === 'object' && !tokens.includes(result.refreshToken)) {
          tokens.push(result.refreshToken);
        }
      }
      const results = got.map((one) => (typeof one === 'object' ? one.accessToken : one));
      return { results: results.sort(), calls: provider.calls - before };
    }
    const key = `${run} ${'key' in one ? one.key : ''}`;
    const { marks, once, counters, highest } = next();
    if ('number' in one) return [await highest.raise(key, [one.number, 1], minute), await highest.get(key)];
    if (one.kind === 'mark') return await marks.mark(key, minute);
    if (one.kind === 'isMarked') return await marks.isMarked(key);
    if (one.kind === 'unmark') return await marks.unmark(key, minute);
    if (one.kind === 'count') return (await counters.add(key, 1)).count;
    const work = async (spend: () => void) => {
      if (one.kind === 'fail') throw new RelayError('provider_unreachable');
      spend();
      return 'done';
    };
    return await once.run(key, work).catch(codeOf);
  }

  const answers: unknown[] = [];
  for (const one of history) answers.push(await answerTo(one));
  return answers;
}

function codeOf(error: unknown): string {
  return error instanceof RelayError ? error.code : String(error);
}

function answerAlike(start: () => Promise<{ address: string; stop(): Promise<void> }>): () => Promise<void> {
  return async () => {
    const server = await start();
    const shared: Awaited<ReturnType<typeof sharedHome>>[] = [];
    try {
      for (let relay = 0; relay < relays; relay += 1) {
        shared.push(await sharedHome(server.address, keys, { fail: (why) => expect.fail(why) }));
      }
      /** The commands of a relay are answered in their order. Before a lock, it sends two at most. */
      const roundTrips = async () => {
        for (let trip = 0; trip < 4; trip += 1) {
          await Promise.all(shared.map(async (one) => await one.shared?.run(['GET', 'nothing'])));
          await pause(0);
        }
      };
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 12 }),
          fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 2 }),
          async (history, fails) => {
            const run = randomBytes(8).toString('hex');
            const alone = memoriesOf({ now: Date.now }, run);
            const together = shared.map((one) => memoriesOf(one, run));
            const atNext = (turn: number) => together[turn % relays] ?? alone;
            const [expected, given] = await Promise.all([
              answersOf({ run, history, fails, at: () => alone, othersWait: () => pause(0) }),
              answersOf({ run, history, fails, at: atNext, othersWait: roundTrips }),
            ]);
            expect(given).to.deep.equal(expected);
          },
        ),
        { numRuns },
      );
    } finally {
      await Promise.all(shared.map((one) => one.close()));
      await server.stop();
    }
  };
}

describe('three relays that share a memory', () => {
  it(
    'answer any history of requests as one relay does',
    answerAlike(async () =>
      // Its clock is slow, so that an entry of a second lasts, however slow this process is.
      Object.assign(await MemoryServerHere.start(), { now: () => Date.now() / 3 }),
    ),
  );

  needsPrograms(memoryProgram).it(
    'answer any history of requests as one relay does, with a real server',
    answerAlike(() => MemoryServer.start()),
  );
});
