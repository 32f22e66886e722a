import { styleText } from 'node:util';
import { type CheckReport, diagnose } from '../../check/diagnose.ts';
import type { Finding } from '../../check/finding.ts';
import type { ShownAnswer } from '../../check/login/calls.ts';
import type { OptionSources } from '../../config/option-sources.ts';
import { print, printError, wrap } from '../print.ts';
import { waitForStopSignal } from '../stop.ts';

/** The flags of `login-relay check`, without those of the relay. */
export interface CheckFlags {
  readonly json: boolean;
  readonly verbose: boolean;
  /** Whether to wait for a login. A text chooses its provider, or `<provider>/<front end>`. */
  readonly login?: boolean | string;
}

/** `login-relay check`: prints what is wrong, for people or as JSON. Returns the exit code. */
export async function check(sources: OptionSources, { json, verbose, login = false }: CheckFlags): Promise<0 | 1 | 2> {
  const { report, code } = login === false ? await diagnose(sources) : await diagnoseNextLogin(sources, login);
  await print(json ? `${JSON.stringify(report, undefined, 2)}\n` : formatReport(report, verbose));
  return code;
}

/** Waits for a login. The operator is told on standard error what to do, so that standard output only has the report. */
async function diagnoseNextLogin(sources: OptionSources, login: true | string) {
  // The module loads the whole relay, which the other checks do not need.
  const { diagnoseLogin } = await import('../../check/login/check-login.ts');
  const say = (text: string) => void printError(text);
  return await diagnoseLogin(sources, login === true ? undefined : login, { say, stopped: waitForStopSignal() });
}

/** Formats the report for people, 80 columns wide; in colour if standard output is a terminal. */
function formatReport(report: CheckReport, verbose: boolean): string {
  const { configuration, callbackUrl, callbackUrls = {}, cms = [], answers = [], findings } = report;
  const merged = mergeEqualFindings(findings);
  const equalAnswers = Map.groupBy(answers, (answer) => JSON.stringify(answer));
  const lines = [
    ...[...equalAnswers.values()].flatMap(formatEqualAnswers),
    formatTitle('Checks'),
    ...merged.flatMap(formatFinding),
    '',
    summarize(merged),
    '',
  ];
  if (callbackUrl !== null) lines.push(`Callback URL to register: ${callbackUrl}`, '');
  const urls = Object.entries(callbackUrls).map(([name, url]) => `  ${name}  ${url}`);
  if (urls.length > 0) lines.push('Callback URLs to register:', ...urls, '');
  for (const { frontEnd, registration, backend } of cms) {
    lines.push(`config.yml of the CMS ${frontEnd}, for a login at ${registration}:`);
    lines.push(indent(backend), '');
  }
  if (verbose && configuration !== null) {
    lines.push(formatTitle('Configuration'), indent(configuration), '');
  }
  return lines.join('\n');
}

/** Formats an answer that came once or several times: a line with its source, then each field with its type. */
function formatEqualAnswers(equalAnswers: readonly ShownAnswer[]): string[] {
  const [answer] = equalAnswers;
  if (answer === undefined) return [];
  const { from, status, contentType, fields, more } = answer;
  const details: string[] = [];
  if (status !== undefined) details.push(`status ${status}`);
  if (contentType !== undefined) details.push(contentType);
  if (equalAnswers.length > 1) details.push(`${equalAnswers.length} times`);
  const heading = formatTitle(details.length === 0 ? from : `${from}: ${details.join(', ')}`);
  const width = Math.max(...fields.map(({ name }) => name.length)) + 2;
  const rows = fields.map(({ name, type }) => `  ${name.padEnd(width)}${type}`);
  const rest = more === 0 ? [] : [`  and ${more} more`];
  return [heading, ...rows, ...rest, ''];
}

const formatTitle = (text: string) => styleText('bold', text);
const indent = (text: string) => text.trimEnd().replaceAll(/^(?=.)/gm, '  ');

const labels = {
  ok: { text: 'ok', colour: 'green' },
  not_checked: { text: 'not checked', colour: 'cyan' },
  warning: { text: 'warning', colour: 'yellow' },
  problem: { text: 'problem', colour: 'red' },
} as const;
const labelWidth = labels.not_checked.text.length;

/** Formats a finding: its label, then in a column its text and, after `→`, its remedy. */
function formatFinding({ subject, verdict, message, fix }: Finding): string[] {
  const indent = ' '.repeat(labelWidth + 4);
  const [first = '', ...rest] = wrap(`${subject}: ${message}`, 80 - indent.length);
  const remedy = fix === null ? [] : wrap(`→ ${fix}`, 80 - indent.length);
  const { text, colour } = labels[verdict];
  const label = styleText(colour, text.padEnd(labelWidth));
  return [`  ${label}  ${first}`, ...[...rest, ...remedy].map((line) => indent + line)];
}

/** Merges findings that say the same about several subjects. */
function mergeEqualFindings(findings: readonly Finding[]): Finding[] {
  const groups = Map.groupBy(findings, ({ verdict, message, fix }) => JSON.stringify([verdict, message, fix]));
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const subjects = [first, ...others].map(({ subject }) => subject);
    return [{ ...first, subject: subjects.join(', ') }];
  });
}

/** Counts the findings by verdict: `1 problem, 2 warnings, 3 not checked.` */
function summarize(findings: readonly Finding[]): string {
  const count = (wanted: Finding['verdict'], singular: string, plural = singular) => {
    const number = findings.filter(({ verdict }) => verdict === wanted).length;
    return number === 0 ? [] : [`${number} ${number === 1 ? singular : plural}`];
  };
  const [problems = 'No problem found'] = count('problem', 'problem', 'problems');
  const others = [...count('warning', 'warning', 'warnings'), ...count('not_checked', 'not checked')];
  return `${[problems, ...others].join(', ')}.`;
}
