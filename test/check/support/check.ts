import { type CheckReport, diagnose } from '../../../src/check/diagnose.ts';
import type { Finding } from '../../../src/check/finding.ts';
import { options } from '../../../src/config/settings/settings.ts';
import { canary, inspectForLeaks } from '../../harness/expect/canaries.ts';
import { type Ending, type Flags, runRelay } from '../../harness/relay/relay-process.ts';
import { secretFile } from '../../harness/relay/relay-under-test.ts';
import { clientId, ownAddress } from './own-addresses.ts';

/** The input of `login-relay check`. The client secret is in a file of mode 600. */
export interface Checkup {
  flags?: Flags;
  env?: Record<string, string>;
  /** Flags without a value. */
  switches?: string[];
  secret?: string;
}

/** A secret that only the token endpoint may see. */
export const clientSecret = canary('secret');
export const redirectUri = `${ownAddress}/auth/provider/callback`;

/** Runs `login-relay check` with all required settings, and reads the report for people. */
export async function checkAsText(checkup: Checkup, ...words: string[]): Promise<Ending> {
  const { env = {}, switches = [] } = checkup;
  const flags = await withRequiredFlags(checkup);
  return await runRelay({ words: ['check', ...words, ...switches], env, flags });
}

async function withRequiredFlags({
  flags = {},
  secret = clientSecret,
}: Pick<Checkup, 'flags' | 'secret'>): Promise<Flags> {
  return {
    origin: ownAddress,
    'base-url': ownAddress,
    'client-id': clientId,
    'client-secret-file': await secretFile(secret),
    ...flags,
  };
}

/** The result of a run with `--json`. */
export class Result {
  readonly code: number | null;
  /** The report as `--json` prints it. */
  readonly report: CheckReport;

  constructor({ code, stdout, stderr }: Ending) {
    if (stderr !== '') throw new Error(`check complains: ${stderr}`);
    this.code = code;
    this.report = JSON.parse(stdout);
    expectOneVerdict(this.report.findings);
  }

  /** The one finding on the subject. */
  finding(subject: string): Finding {
    const [finding, ...others] = this.report.findings.filter((one) => one.subject === subject);
    if (finding === undefined || others.length > 0) {
      throw new Error(`not one finding on ${subject}: ${JSON.stringify(this.report.findings)}`);
    }
    return finding;
  }

  /** The warnings and problems, as `subject: message → fix`. */
  get complaints(): string[] {
    return this.report.findings
      .filter(({ verdict }) => verdict === 'warning' || verdict === 'problem')
      .map(({ verdict, subject, message, fix }) => `${verdict}: ${subject}: ${message} → ${fix}`);
  }
}

/** Runs `login-relay check --json`. */
export async function check(checkup: Checkup): Promise<Result> {
  return new Result(await checkAsText(checkup, '--json'));
}

/**
 * Runs `login-relay check --json` in this process, because starting a process takes most of the time. It is for the
 * many ways in which a provider can answer.
 */
export async function diagnoseHere(checkup: Omit<Checkup, 'switches'>): Promise<Result> {
  const flags = await withRequiredFlags(checkup);
  const given = Object.entries(optionsOf(flags)).map(([name, value]) => [name, [value]]);
  const sources = { flags: Object.fromEntries(given), environment: checkup.env ?? {} };
  const { report, code } = await diagnose(sources);
  const stdout = JSON.stringify(report);
  inspectForLeaks('the report', stdout);
  return new Result({ code, signal: null, stdout, stderr: '' });
}

/** The values of flags, by the names of their options. */
export function optionsOf(flags: Flags): Record<string, string> {
  const given = Object.entries(options).flatMap(([name, { flag }]) => {
    const value = flags[flag.slice(2)];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

/** The findings of `login-relay check` with this configuration file, in this process. */
export async function diagnoseFile(text: string) {
  const file = await secretFile(text);
  const { report, code } = await diagnose({ flags: { config: [file] }, environment: {} });
  expectOneVerdict(report.findings);
  const about = (subject: string) => report.findings.find((one) => one.subject === subject);
  return { file, report, code, about };
}

/** No subject is right and wrong at the same time, because a reader could not tell which of both holds. */
export function expectOneVerdict(findings: readonly Finding[]): void {
  for (const [subject, group] of Map.groupBy(findings, ({ subject }) => subject)) {
    const verdicts = group.map(({ verdict }) => verdict);
    const isContradiction = verdicts.includes('ok') && (verdicts.includes('problem') || verdicts.includes('warning'));
    if (isContradiction) throw new Error(`${subject} is right and wrong: ${JSON.stringify(group)}`);
  }
}
