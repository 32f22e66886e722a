import { styleText } from 'node:util';
import type { CmsConfig } from './cms.ts';
import type { Finding } from './finding.ts';
import { wrap } from './wrap.ts';

/** The result of `login-relay check`. */
export interface CheckReport {
  /** The configuration in effect, as a configuration file; null if it has faults. */
  readonly configuration: string | null;
  /** What to register at the provider; null if the configuration has faults. */
  readonly callbackUrl: string | null;
  /** The same for each registration of a configuration file. */
  readonly callbackUrls?: Readonly<Record<string, string>>;
  /** What the CMSes need in their `config.yml`; left out if no front end is one. */
  readonly cms?: readonly CmsConfig[];
  readonly findings: readonly Finding[];
}

/** The report for people, 80 columns wide; in colour if standard output is a terminal. */
export function reportAsText(report: CheckReport): string {
  const { configuration, callbackUrl, callbackUrls = {}, cms = [], findings } = report;
  const lines: string[] = [];
  if (configuration !== null) lines.push(title('Configuration'), indented(configuration), '');
  if (callbackUrl !== null) lines.push(`Callback URL to register: ${callbackUrl}`, '');
  const urls = Object.entries(callbackUrls).map(([name, url]) => `  ${name}  ${url}`);
  if (urls.length > 0) lines.push('Callback URLs to register:', ...urls, '');
  for (const { frontEnd, registration, backend } of cms) {
    lines.push(`config.yml of the CMS ${frontEnd}, for a login at ${registration}:`);
    lines.push(indented(backend), '');
  }
  const merged = mergeEqual(findings);
  lines.push(title('Checks'), ...merged.flatMap(findingLines));
  lines.push('', summary(merged), '');
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

function findingLines({ subject, verdict, message, fix }: Finding): string[] {
  const indent = ' '.repeat(labelWidth + 4);
  const [first = '', ...rest] = wrap(`${subject}: ${message}`, 80 - indent.length);
  const remedy = fix === null ? [] : wrap(`→ ${fix}`, 80 - indent.length);
  const { text, colour } = labels[verdict];
  const label = styleText(colour, text.padEnd(labelWidth));
  return [`  ${label}  ${first}`, ...[...rest, ...remedy].map((line) => indent + line)];
}

/** Findings that say the same of several subjects, as one. */
function mergeEqual(findings: readonly Finding[]): Finding[] {
  const equal = Map.groupBy(findings, ({ verdict, message, fix }) =>
    JSON.stringify([verdict, message, fix]),
  );
  return [...equal.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ ...first, subject: [first, ...others].map(({ subject }) => subject).join(', ') }],
  );
}

function summary(findings: readonly Finding[]): string {
  const count = (wanted: Finding['verdict'], one: string, many = one) => {
    const number = findings.filter(({ verdict }) => verdict === wanted).length;
    return number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  };
  const [problems = 'No problem found'] = count('problem', 'problem', 'problems');
  const others = [
    ...count('warning', 'warning', 'warnings'),
    ...count('not_checked', 'not checked'),
  ];
  return `${[problems, ...others].join(', ')}.`;
}
