import { readFile, writeFile } from 'node:fs/promises';

/** The outcome of one test at a server. */
export type Outcome = 'yes' | 'named' | 'not checked' | 'no' | '—';

/** The columns of the matrix, in order. */
const columns = [
  ...['login', 'lookup', 'refused consent', 'expired code', 'right configuration', 'client secret'],
  ...['client id', 'callback', 'scope', 'method', "issuer's path", "issuer's scheme"],
] as const;

/** One test for every server. */
export type Column = (typeof columns)[number];

/** The outcomes of all tests at all servers. */
export class Matrix {
  readonly #outcomes = new Map<string, Map<Column, Set<Outcome>>>();

  /** Runs a test, and records its outcome: `no` if it throws. */
  async attempt(server: string, column: Column, task: () => Promise<Outcome>): Promise<void> {
    let outcome: Outcome = 'no';
    try {
      outcome = await task();
    } finally {
      this.note(server, column, outcome);
    }
  }

  note(server: string, column: Column, outcome: Outcome): void {
    const row = this.#outcomes.get(server) ?? new Map<Column, Set<Outcome>>();
    this.#outcomes.set(server, row.set(column, (row.get(column) ?? new Set()).add(outcome)));
  }

  /** Whether all tests of these servers have run. */
  covers(servers: readonly string[]): boolean {
    return servers.every((server) => this.#outcomes.get(server)?.size === columns.length);
  }

  /** The matrix as a Markdown table with a line for each server, in the order of the tests. */
  toMarkdown(): string {
    const rows = [...this.#outcomes].map(([server, row]) => [
      server,
      ...columns.map((column) => cell(row.get(column))),
    ]);
    return [['server', ...columns], ['', ...columns].map(() => '---'), ...rows]
      .map((cells) => `| ${cells.join(' | ')} |\n`)
      .join('');
  }

  /** Replaces the text between two comments of a document. */
  async writeInto(file: string): Promise<void> {
    const [begin, end] = ['<!-- made by `make test-providers` -->\n', '<!-- end -->\n'];
    const text = await readFile(file, 'utf8');
    const [before, rest] = halves(text, begin);
    const [, after] = halves(rest, end);
    await writeFile(file, `${before}${begin}\n${this.toMarkdown()}\n${end}${after}`);
  }
}

/** The worse outcome counts if it depends on the secret. */
function cell(outcomes: ReadonlySet<Outcome> | undefined): Outcome {
  if (outcomes === undefined || outcomes.has('no')) return 'no';
  if (outcomes.has('not checked')) return 'not checked';
  const [outcome = 'no'] = outcomes;
  return outcome;
}

function halves(text: string, separator: string): [string, string] {
  const [before, after, ...more] = text.split(separator);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`not exactly one ${separator}`);
  }
  return [before, after];
}
