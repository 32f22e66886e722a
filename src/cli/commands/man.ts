import { readFileSync } from 'node:fs';
import type { Command, Option as Flag, Help } from 'commander';
import { version } from '../../version.ts';
import { optionsHelp } from '../help.ts';
import { wrap } from '../print.ts';

/** The page in Markdown. A line that begins with a dot is roff. */
const page = readFileSync(new URL('./manual.md', import.meta.url), 'utf8');

/** The width at which help writes each description below its term, indented by six spaces. */
const narrow = 60;

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
    options: markdownOf(optionsHelp(program, narrow)),
  };
  return roff(page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? ''));
}

/** The text of help as Markdown of the page: titles of groups as headings, flags as terms of a definition list. */
function markdownOf(help: string): string {
  return help
    .trim()
    .replaceAll(/\n*^(\S.*):$/gm, '\n## $1')
    .replaceAll(/^ {2}(-.*)\n {6}/gm, '`$1`\n: ')
    .replaceAll(/^ {6}/gm, '');
}

/** A section of the manual page, for a terminal: from its heading to the next one, without marks. */
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
  // Options with a heading are settings of the relay, which the page lists below.
  const own = help
    .visibleOptions(command)
    .filter(({ helpGroupHeading, long }) => helpGroupHeading === undefined && long !== '--help');
  const flags = own.length === 0 ? [] : ['.RS', ...own.map(flagItem), '.RE'];
  const title = `login-relay ${help.subcommandTerm(command)}`;
  return [item(title, command.description()), ...flags].join('\n');
}

const flagItem = ({ flags, description }: Flag) => item(flags, `${description}.`);

const item = (term: string, text: string) => `\`${term}\`\n: ${text}`;

/** Turns the Markdown of the page into roff, with lines of at most 80 characters. The order of the steps counts. */
function roff(markdown: string): string {
  // First, because it escapes text, and what later steps add must stay. A line with a dot is roff already.
  const escaped = markdown.replaceAll(/^[^.\n].*/gm, inline);
  const withHeadings = escaped.replaceAll(/^# /gm, '.SH ').replaceAll(/^## /gm, '.SS ');
  // A definition list: a term, then a line that begins with a colon.
  const withLists = withHeadings.replaceAll(/^(.+)\n: /gm, '.TP\n$1\n');
  // Indented code, with the empty line before it: before empty lines become paragraphs.
  const withCode = withLists.replaceAll(/\n((?:^ {4}.*\n)+)/gm, (_, lines: string) => {
    const commands = lines.replaceAll(/^ {4}(.*)$/gm, '\\fB$1\\fR');
    return `.PP\n.RS 4\n.nf\n${commands}.fi\n.RE\n`;
  });
  const withParagraphs = withCode.replaceAll(/^\n/gm, '.PP\n');
  // Break long lines of text, but never before a dot or an apostrophe: at the start of a line, it begins a macro.
  return withParagraphs.replaceAll(/^(?!\.).{81,}$/gm, (line) =>
    line.replaceAll(/(.{1,80})(?: (?![.'])|$)/g, '$1\n').trimEnd(),
  );
}

/** Escapes a line of text, also so that hyphens can be copied, and marks code as bold and *names* as italic. */
function inline(line: string): string {
  const text = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  // Indented code has no marks.
  if (text.startsWith('    ')) return text;
  return text.replaceAll(/`(.*?)`/g, '\\fB$1\\fR').replaceAll(/\*([^\s*]+)\*/g, '\\fI$1\\fR');
}
