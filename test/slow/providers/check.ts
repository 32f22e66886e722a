import { type Ending, type Flags, runRelay } from '../../harness/relay/relay-process.ts';

/** One finding of `login-relay check --json`, with the fields that matter here. */
interface Finding {
  readonly subject: string;
  readonly verdict: string;
  /** The whole text. */
  readonly text: string;
}

/** The result of `login-relay check` for a configuration. */
export class Checkup {
  readonly #ending: Ending;
  readonly #findings: readonly Finding[];

  private constructor(ending: Ending) {
    this.#ending = ending;
    const report: unknown = JSON.parse(ending.stdout);
    this.#findings = listOf(Object(report).findings).map((finding) => {
      const { verdict, ...rest } = Object(finding);
      return {
        subject: String(rest.subject),
        verdict: String(verdict),
        text: Object.values(rest).join(' — '),
      };
    });
  }

  static async of(flags: Flags): Promise<Checkup> {
    return new Checkup(await runRelay({ words: ['check', '--json'], flags }));
  }

  /** The whole output of the command. */
  get output(): string {
    return this.#ending.stdout + this.#ending.stderr;
  }

  /** The problems and warnings. */
  get complaints(): readonly string[] {
    return this.#findings.filter(isComplaint).map(({ text }) => text);
  }

  /** The value of `--token-request` that it advises; undefined if it advises to leave it out. */
  get advisedTokenRequest(): string | undefined {
    const advice = /--token-request [^;]*?to (query|body|basic-raw|basic)\b/;
    return this.complaints.map((text) => advice.exec(text)?.[1]).find(Boolean);
  }

  /**
   * How the findings lead to the cause: one of them at the server is about it, and no problem is about
   * anything else. A finding may also be "not checked". Otherwise this throws.
   *
   * @param cause matches the text of findings about the cause
   */
  outcomeFor(cause: RegExp): 'named' | 'not checked' {
    // These two compare the running relay with the configuration. They show nothing about the server.
    const atServer = this.#findings.filter(
      ({ subject }) => subject !== 'base URL' && subject !== 'front end',
    );
    const aboutIt = atServer.filter(({ text }) => cause.test(text));
    const said = JSON.stringify(atServer, undefined, 1);
    const misled = atServer.find(
      (finding) => finding.verdict === 'problem' && !aboutIt.includes(finding),
    );
    if (misled !== undefined) throw new Error(`blames something else: ${misled.text}\n${said}`);
    if (aboutIt.some(isComplaint)) return 'named';
    if (aboutIt.some(({ verdict }) => verdict === 'not_checked')) return 'not checked';
    throw new Error(`neither names what is wrong nor says that it did not look:\n${said}`);
  }
}

function isComplaint({ verdict }: Finding): boolean {
  return verdict === 'problem' || verdict === 'warning';
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('check prints no findings');
  return value;
}
