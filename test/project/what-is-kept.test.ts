import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createDoorCookies } from '../../src/browsers/door-cookies.ts';
import type { Context } from '../../src/http/context.ts';
import { atDoor, createLoginCookies } from '../../src/login/cookies.ts';
import { counted, kinds } from '../../src/memory/kinds.ts';
import { createSessionCookies } from '../../src/session/cookies.ts';

const root = new URL('../../', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/what-is-kept.md'), 'utf8');

/** The rows of the table in a section, each as its cells. */
function rowsOf(section: string): readonly (readonly string[])[] {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  const lines = own.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The names in the first column of the table in a section. */
const namesIn = (section: string): string[] =>
  rowsOf(section).flatMap(([first = '']) => [...first.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(root, 'src', path), 'utf8') }));

/** The matches in the sources, with the path of each. */
const found = (pattern: RegExp) =>
  sources.flatMap(({ path, text }) => [...text.matchAll(pattern)].map((match) => ({ path, text, match })));

/** Expects that a table lists what the code has, and nothing else. */
function expectRows(listed: readonly string[], inCode: readonly string[], what: string): void {
  const missing = inCode.filter((name) => !listed.includes(name));
  const gone = listed.filter((name) => !inCode.includes(name));
  expect(missing, `docs/what-is-kept.md has no row for each ${what}`).to.deep.equal([]);
  expect(gone, `docs/what-is-kept.md has rows of what the code does not have: ${what}`).to.deep.equal([]);
}

const asNumber = (value: number) => value.toLocaleString('en');

/** The names of the cookies that a function sets or clears. */
function cookiesSetBy(use: (ctx: Context) => void): string[] {
  const names: string[] = [];
  const ctx = {
    req: { headers: { cookie: '' } },
    state: {},
    append: (_: string, line: string) => names.push(line.slice(0, line.indexOf('='))),
  };
  use(ctx as unknown as Context);
  return names;
}

/** The code that sets the cookies of each kind. */
const cookies: Readonly<Record<string, () => string[]>> = {
  login: () =>
    cookiesSetBy((ctx) => {
      const { set, finish } = createLoginCookies(false);
      set(ctx, Buffer.alloc(32), Buffer.alloc(32), 'x');
      finish(ctx, Buffer.alloc(32));
    }),
  session: () => cookiesSetBy((ctx) => createSessionCookies(false).clear(ctx, 'app')),
  door: () =>
    cookiesSetBy((ctx) => {
      const cookies = createDoorCookies({ url: 'http://localhost:3000/' });
      cookies.clear(ctx);
      cookies.markReturned(ctx);
      cookies.rememberChoice(ctx, 'github');
    }),
  door_login: () =>
    cookiesSetBy((ctx) => {
      const { set, finish } = createLoginCookies(false, atDoor);
      set(ctx, Buffer.alloc(32), Buffer.alloc(32), 'x'.repeat(1000));
      finish(ctx, Buffer.alloc(32));
    }),
};

/** The places that create a map for a single request, configuration or start. */
const shortLived: readonly RegExp[] = [
  /^(check|cli|config|demo|oauth)\//,
  // The script of a page.
  /^delivery\/consent-page\.ts inTime/,
  /^http\/cookies\.ts (Cookies|cookies)$/,
  /^observability\/metrics\.ts streams$/,
  /^access\/access\.ts (asked|faults)$/,
  /^login\/cookies\.ts ranksOfCookies$/,
  /^resources\/streams\.ts endedInSweep$/,
  /^relay\/app\.ts handlers$/,
  // The functions that create all other maps with a lifetime.
  /^memory\/expiring-map\.ts /,
  // Shared kinds and counters, which have tables of their own.
  /^memory\/(marks\.ts marks|highest-lists\.ts lists|counters\.ts counters)$/,
];

describe('docs/what-is-kept.md', () => {
  it('has each kind of the shared memory, with its lifetime and its most', () => {
    const rows = new Map(
      rowsOf('Memory of a process, shared between relays if they have a server').map((cells) => [cells[0], cells]),
    );
    const all: readonly { letter: string; lifetime?: number; most: number }[] = Object.values(kinds);
    expectRows(
      [...rows.keys()].map(String),
      all.map(({ letter }) => `\`${letter}\``),
      'letter of kinds',
    );
    for (const { letter, lifetime, most } of all) {
      const [, , , howLong = '', howMany = ''] = rows.get(`\`${letter}\``) ?? [];
      const expected = lifetime === undefined ? /^until / : new RegExp(`^${asNumber(lifetime / 1000)} s\\b`);
      expect(howLong, `lifetime of ${letter}`).to.match(expected);
      expect(howMany.split(' ')[0], `most of ${letter}`).to.equal(asNumber(most));
    }
  });

  it('has each counter, with the time after which it begins again', () => {
    const rows = rowsOf('Counters').map(([name, , time]) => `${name}, ${time}`);
    const expected = Object.values(counted).map(({ name, lifetime }) => `\`${name}\`, ${lifetime / 1000} s`);
    expectRows(rows, expected, 'counter and its time');
  });

  it('has each purpose of a seal', () => {
    const purposes = found(/createSeal\((?:'([^']+)'|(\w+))/g).flatMap(({ text, match: [, literal, variable] }) => {
      if (literal !== undefined) return [literal];
      const [, union = ''] = new RegExp(`\\b${variable}: ((?:'[^']+'(?: \\| )?)+)`).exec(text) ?? [];
      expect(union, `the values of ${variable}`).not.to.equal('');
      return union.split(' | ').map((one) => one.replaceAll("'", ''));
    });
    expectRows(namesIn('Sealed texts'), purposes, 'purpose of createSeal');
  });

  it('has each cookie', () => {
    const [declaration] = found(/type CookieKind = ((?:'\w+'(?: \| )?)+);/g);
    const kinds = declaration?.match[1] ?? '';
    const used = kinds.split(' | ').map((kind) => kind.replaceAll("'", ''));
    expect(Object.keys(cookies), 'kinds of cookies whose names this test gets').to.have.members(used);
    const set = Object.values(cookies).flatMap((names) => names());
    const names = set.map((name) =>
      name
        .replace(/^lr_login_[0-9a-f]{16}$/, 'lr_login_<id>')
        .replace(/^lr_door_login_[0-9a-f]{16}$/, 'lr_door_login_<id>')
        .replace(/^lr_(door_)?login_part_\d$/, 'lr_$1login_part_<n>')
        .replace(/^lr_session_app/, 'lr_session_<front end>'),
    );
    expectRows(namesIn('Cookies'), names, 'cookie');
  });

  it('has each map of the process', () => {
    const maps = found(
      /(?:readonly |const |let )?(#?\w+)(?: = |: )(?:new (?:Weak)?(?:Map|Set)(?:<.*>)?\(\)|create(?:ExpiringMap|ExpiringSecrets|InFlight)(?:<.*?>)?\()/g,
    )
      .map(({ path, match: [, name = ''] }) => `${path} ${name}`)
      .filter((one) => !shortLived.some((pattern) => pattern.test(one)));
    const listed = ['Memory of a process alone', 'Work in progress'].flatMap((section) =>
      rowsOf(section).flatMap(([where = '']) => {
        const [path = '', ...names] = [...where.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
        return names.map((name) => `${path} ${name}`);
      }),
    );
    expectRows(listed, maps, 'file and map');
  });
});
