import { readFileSync } from 'node:fs';
import type { Command, Option as Flag, Help } from 'commander';
import { version } from '../../version.ts';
import { optionsHelp } from '../help.ts';
import { wrap } from '../print.ts';

/** The page in Markdown. A line that begins with a dot is roff. */
const page = readFileSync(new URL('./manual.md', import.meta.url), 'utf8');

/** In lines as short, help writes each description below its term. */
const width = 60;

/**
 * `login-relay man`: the manual page as man(1) reads it, with the date of the release or, from source, today's.
 *
 * @see man-pages(7), groff_man(7)
 */
export function man(program: Command): string {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  // The build of the executable replaces this variable by its value.
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  const time = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000);
  const parts: Readonly<Record<string, string>> = {
    date: time.toISOString().slice(0, 10),
    version,
    commands: commands.map((command) => commandItem(command, help)).join('\n'),
    options: optionsHelp(program, width)
      .trim()
      .replaceAll(/\n*^(\S.*):$/gm, '\n## $1')
      .replaceAll(/^ {2}(-.*)\n {6}/gm, '`$1`\n: ')
      .replaceAll(/^ {6}/gm, ''),
  };
  return roff(page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? ''));
}

/** A section of the manual page, for a terminal. */
export function manualSection(name: 'ENVIRONMENT' | 'EXIT STATUS'): string {
  const [, after = ''] = page.split(`# ${name}\n`);
  const [section = ''] = after.split(/^# /m);
  return section.replaceAll('`', '').replaceAll(/^: (.*)$/gm, (_, text: string) =>
    wrap(text, 74)
      .map((line) => `      ${line}`)
      .join('\n'),
  );
}

function commandItem(command: Command, help: Help): string {
  // Those with a heading are settings of the relay, which the page lists below.
  const own = help
    .visibleOptions(command)
    .filter(({ helpGroupHeading, long }) => helpGroupHeading === undefined && long !== '--help');
  const flags = own.length === 0 ? [] : ['.RS', ...own.map(flagItem), '.RE'];
  return [
    item(`login-relay ${help.subcommandTerm(command)}`, command.description()),
    ...flags,
  ].join('\n');
}

const flagItem = ({ flags, description }: Flag) => item(flags, `${description}.`);

const item = (term: string, text: string) => `\`${term}\`\n: ${text}`;

/** Turns the Markdown of the page into roff, with lines of at most 80 characters. */
function roff(markdown: string): string {
  return markdown
    .replaceAll(/^[^.\n].*/gm, inline)
    .replaceAll(/^# /gm, '.SH ')
    .replaceAll(/^## /gm, '.SS ')
    .replaceAll(/^(.+)\n: /gm, '.TP\n$1\n')
    .replaceAll(/^: /gm, '.IP\n')
    .replaceAll(/\n((?:^ {4}.*\n)+)/gm, (_, lines: string) => {
      const commands = lines.replaceAll(/^ {4}(.*)$/gm, '\\fB$1\\fR');
      return `.PP\n.RS 4\n.nf\n${commands}.fi\n.RE\n`;
    })
    .replaceAll(/^\n/gm, '.PP\n')
    .replaceAll(/^(?!\.).{81,}$/gm, (line) =>
      line.replaceAll(/(.{1,80})(?: (?![.'])|$)/g, '$1\n').trimEnd(),
    );
}

/** Text without escapes and macros, with hyphens that can be copied. */
function inline(line: string): string {
  const text = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  if (text.startsWith('    ')) return text;
  return text.replaceAll(/`(.*?)`/g, '\\fB$1\\fR').replaceAll(/\*([^\s*]+)\*/g, '\\fI$1\\fR');
}
