import { styleText } from 'node:util';
import { type CheckReport, diagnose } from '../../check/diagnose.ts';
import type { Finding } from '../../check/finding.ts';
import type { OptionSources } from '../../config/sources.ts';
import { print, wrap } from '../print.ts';

export interface HowToPrint {
  readonly json: boolean;
  /** Whether people see the configuration, too. */
  readonly verbose: boolean;
}

/** `login-relay check`: prints what is wrong, for people or as JSON. Returns the exit code. */
export async function check(sources: OptionSources, how: HowToPrint): Promise<0 | 1 | 2> {
  const { json, verbose } = how;
  const { report, code } = await diagnose(sources);
  await print(json ? `${JSON.stringify(report, undefined, 2)}\n` : reportAsText(report, verbose));
  return code;
}

/** The report for people, 80 columns wide; in colour if standard output is a terminal. */
function reportAsText(report: CheckReport, verbose: boolean): string {
  const { configuration, callbackUrl, callbackUrls = {}, cms = [], findings } = report;
  const merged = mergeEqual(findings);
  const lines = [title('Checks'), ...merged.flatMap(findingLines), '', summary(merged), ''];
  if (callbackUrl !== null) lines.push(`Callback URL to register: ${callbackUrl}`, '');
  const urls = Object.entries(callbackUrls).map(([name, url]) => `  ${name}  ${url}`);
  if (urls.length > 0) lines.push('Callback URLs to register:', ...urls, '');
  for (const { frontEnd, registration, backend } of cms) {
    lines.push(`config.yml of the CMS ${frontEnd}, for a login at ${registration}:`);
    lines.push(indented(backend), '');
  }
  if (verbose && configuration !== null) {
    lines.push(title('Configuration'), indented(configuration), '');
  }
  return lines.join('\n');
}

const title = (text: string) => styleText('bold', text);
const indented = (text: string) => text.trimEnd().replaceAll(/^(?=.)/gm, '  ');

const labels = {
  ok: { text: 'ok', colour: 'green' },
  not_checked: { text: 'not checked', colour: 'cyan' },
  warning: { text: 'warning', colour: 'yellow' },
  problem: { text: 'problem', colour: 'red' },
} as const;
const labelWidth = labels.not_checked.text.length;

/** One finding: its label, then its text and `→` its remedy in a column of their own. */
function findingLines({ subject, verdict, message, fix }: Finding): string[] {
  const indent = ' '.repeat(labelWidth + 4);
  const [first = '', ...rest] = wrap(`${subject}: ${message}`, 80 - indent.length);
  const remedy = fix === null ? [] : wrap(`→ ${fix}`, 80 - indent.length);
  const { text, colour } = labels[verdict];
  const label = styleText(colour, text.padEnd(labelWidth));
  return [`  ${label}  ${first}`, ...[...rest, ...remedy].map((line) => indent + line)];
}

/** Makes one finding of those that say the same of several subjects. */
function mergeEqual(findings: readonly Finding[]): Finding[] {
  const equal = Map.groupBy(findings, ({ verdict, message, fix }) => JSON.stringify([verdict, message, fix]));
  return [...equal.values()].flatMap((group) => {
    const subject = group.map((one) => one.subject).join(', ');
    return group.slice(0, 1).map((first) => ({ ...first, subject }));
  });
}

/** Counts the findings by verdict: `1 problem, 2 warnings, 3 not checked.` */
function summary(findings: readonly Finding[]): string {
  const count = (wanted: Finding['verdict'], one: string, many = one) => {
    const number = findings.filter(({ verdict }) => verdict === wanted).length;
    return number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  };
  const [problems = 'No problem found'] = count('problem', 'problem', 'problems');
  const others = [...count('warning', 'warning', 'warnings'), ...count('not_checked', 'not checked')];
  return `${[problems, ...others].join(', ')}.`;
}
