import { styleText } from 'node:util';
import type { EffectiveOption } from './effective-options.ts';
import type { Finding } from './finding.ts';
import { wrap } from './wrap.ts';

/** What the doctor has to say. */
export interface DoctorReport {
  readonly options: readonly EffectiveOption[];
  /** What to register at the provider; null where the configuration does not tell. */
  readonly callbackUrl: string | null;
  readonly findings: readonly Finding[];
}

/** The report for scripts. */
export function reportAsJson(report: DoctorReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

/** The report for people, 80 columns wide; in colour where standard output is a terminal. */
export function reportAsText({ options, callbackUrl, findings }: DoctorReport): string {
  const lines = [styleText('bold', 'Configuration'), ...optionLines(options)];
  if (callbackUrl !== null) lines.push('', `Callback URL to register: ${callbackUrl}`);
  const said = merged(findings);
  lines.push('', styleText('bold', 'Checks'), ...said.flatMap(findingLines));
  lines.push('', summary(said), '');
  return lines.join('\n');
}

function optionLines(options: readonly EffectiveOption[]): string[] {
  const shown = options.filter(({ source }) => source !== 'none');
  const name = ({ flag, variable }: EffectiveOption) => flag ?? variable;
  const width = Math.max(...shown.map((option) => name(option).length));
  return shown.map((option) => {
    const value = option.value ?? '(cannot be used)';
    const source = styleText('dim', `(${sourceInWords(option)})`);
    return `  ${name(option).padEnd(width)}  ${value}  ${source}`;
  });
}

function sourceInWords({ flag, source, variable }: EffectiveOption): string {
  if (source === 'environment' && flag !== null) return variable;
  return source === 'credential' ? 'systemd credential' : source;
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red' } as const;
const verdictWidth = 'problem'.length;

function findingLines({ subject, verdict, message, mend }: Finding): string[] {
  const indent = ' '.repeat(verdictWidth + 4);
  const [first = '', ...rest] = wrap(`${subject}: ${message}`, 80 - indent.length);
  const remedy = mend === null ? [] : wrap(`→ ${mend}`, 80 - indent.length);
  const label = styleText(colours[verdict], verdict.padEnd(verdictWidth));
  return [`  ${label}  ${first}`, ...[...rest, ...remedy].map((line) => indent + line)];
}

/** Findings that say the same of several subjects, as one. */
function merged(findings: readonly Finding[]): Finding[] {
  const said = Map.groupBy(findings, ({ verdict, message, mend }) =>
    JSON.stringify([verdict, message, mend]),
  );
  return [...said.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ ...first, subject: [first, ...others].map(({ subject }) => subject).join(', ') }],
  );
}

function summary(findings: readonly Finding[]): string {
  const problems = count(findings, 'problem');
  const warnings = count(findings, 'warning');
  if (problems + warnings === 0) return 'All is well.';
  const counts = [
    ...(problems > 0 ? [plural(problems, 'problem')] : []),
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
  ];
  return `${counts.join(', ')}.`;
}

function count(findings: readonly Finding[], wanted: Finding['verdict']): number {
  return findings.filter(({ verdict }) => verdict === wanted).length;
}

function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
