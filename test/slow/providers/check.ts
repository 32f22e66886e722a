import { type Ending, type Flags, runRelay } from '../../support/relay-process.ts';
import type { Outcome } from './matrix.ts';

/** One finding of `login-relay check --json`: its verdict, and everything else it says. */
interface Finding {
  readonly verdict: string;
  readonly text: string;
}

/** What `login-relay check` says of a configuration. */
export class Checkup {
  readonly #ending: Ending;
  readonly #findings: readonly Finding[];

  private constructor(ending: Ending) {
    this.#ending = ending;
    const report: unknown = JSON.parse(ending.stdout);
    this.#findings = listOf(Object(report).findings).map((finding) => {
      const { verdict, ...rest } = Object(finding);
      return { verdict: String(verdict), text: Object.values(rest).join(' — ') };
    });
  }

  static async of(flags: Flags, env: Record<string, string>): Promise<Checkup> {
    return new Checkup(await runRelay({ words: ['check', '--json'], flags, env }));
  }

  /** Everything that the command has printed. */
  get output(): string {
    return this.#ending.stdout + this.#ending.stderr;
  }

  /** What it found wrong, and what it found odd. */
  get complaints(): readonly string[] {
    return this.#with(/^(problem|warning)$/);
  }

  /** The value of `--token-request` that it advises; undefined if it advises to leave it out. */
  get advisedTokenRequest(): string | undefined {
    const advice = /--token-request [^;]*?to (query|body|basic-raw|basic)\b/;
    return this.complaints.map((text) => advice.exec(text)?.[1]).find(Boolean);
  }

  /**
   * Whether it leads to what is wrong: something that it has found is about that and no problem is
   * about anything else, or it says that it did not look. Otherwise this throws.
   *
   * @param cause the words for what is wrong
   */
  outcomeFor(cause: RegExp): Outcome {
    const problems = this.#with(/^problem$/);
    const said = JSON.stringify(this.#findings, undefined, 1);
    const misled = problems.find((problem) => !cause.test(problem));
    if (misled !== undefined) throw new Error(`blames something else: ${misled}\n${said}`);
    if (this.complaints.some((complaint) => cause.test(complaint))) return 'named';
    if (this.#with(/^not_checked$/).some((text) => cause.test(text))) {
      return 'not checked';
    }
    throw new Error(`neither names what is wrong nor says that it did not look:\n${said}`);
  }

  #with(verdict: RegExp): readonly string[] {
    return this.#findings
      .filter((finding) => verdict.test(finding.verdict))
      .map(({ text }) => text);
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('check prints no findings');
  return value;
}
