import { readFileSync } from 'node:fs';
import type { Command, Option as Flag, Help } from 'commander';
import { version } from '../../version.ts';
import { formatAllOptions } from '../help.ts';
import { wrap } from '../print.ts';

/** The page in Markdown. Lines that begin with a dot are roff. */
const page = readFileSync(new URL('./manual.md', import.meta.url), 'utf8');

/** The width at which help places each description below its term, indented by six spaces. */
const narrow = 60;

/**
 * `login-relay man`: the manual page for man(1), with the date of the release or, from source, of today.
 *
 * @see man-pages(7), groff_man(7)
 */
export function formatManualPage(program: Command): string {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  // The build of the executable replaces this variable by its value.
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  const time = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000);
  const parts: Readonly<Record<string, string>> = {
    date: time.toISOString().slice(0, 10),
    version,
    commands: commands.map((command) => formatCommand(command, help)).join('\n'),
    options: helpToMarkdown(formatAllOptions(program, narrow)),
  };
  return markdownToRoff(page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? ''));
}

/** Turns help into Markdown of the page: headings of groups, and flags as terms of a definition list. */
function helpToMarkdown(help: string): string {
  return help
    .trim()
    .replaceAll(/\n*^(\S.*):$/gm, '\n## $1')
    .replaceAll(/^ {2}(-.*)\n {6}/gm, '`$1`\n: ')
    .replaceAll(/^ {6}/gm, '');
}

/** A section of the manual page without markup, for a terminal. */
export function manualSection(name: 'ENVIRONMENT' | 'EXIT STATUS'): string {
  const [, after = ''] = page.split(`# ${name}\n`);
  const [section = ''] = after.split(/^# /m);
  return section.replaceAll('`', '').replaceAll(/^: (.*)$/gm, (_, text: string) =>
    wrap(text, 74)
      .map((line) => `      ${line}`)
      .join('\n'),
  );
}

function formatCommand(command: Command, help: Help): string {
  // The page lists the relay's settings below, so leave them out here.
  const own = help
    .visibleOptions(command)
    .filter(({ helpGroupHeading, long }) => helpGroupHeading === undefined && long !== '--help');
  const flags = own.length === 0 ? [] : ['.RS', ...own.map(formatFlag), '.RE'];
  const title = `login-relay ${help.subcommandTerm(command)}`;
  return [formatDefinition(title, command.description()), ...flags].join('\n');
}

const formatFlag = ({ flags, description }: Flag) => formatDefinition(flags, `${description}.`);

const formatDefinition = (term: string, text: string) => `\`${term}\`\n: ${text}`;

/** Turns the Markdown of the page into roff, with lines of at most 80 characters. The order of the steps matters. */
function markdownToRoff(markdown: string): string {
  // This must come first, because it escapes text, and must not escape what later steps add. A line with a dot is roff
  // already.
  const escaped = markdown.replaceAll(/^[^.\n].*/gm, formatLine);
  const withHeadings = escaped.replaceAll(/^# /gm, '.SH ').replaceAll(/^## /gm, '.SS ');
  // A definition list: a term, then a line that begins with a colon.
  const withLists = withHeadings.replaceAll(/^(.+)\n: /gm, '.TP\n$1\n');
  // Indented code, with the empty line before it. This must come before empty lines become paragraphs.
  const withCode = withLists.replaceAll(/\n((?:^ {4}.*\n)+)/gm, (_, lines: string) => {
    const commands = lines.replaceAll(/^ {4}(.*)$/gm, '\\fB$1\\fR');
    return `.PP\n.RS 4\n.nf\n${commands}.fi\n.RE\n`;
  });
  const withParagraphs = withCode.replaceAll(/^\n/gm, '.PP\n');
  // Wrap long lines of text, but never before a dot or an apostrophe, which would begin a macro at the start of a line.
  return withParagraphs.replaceAll(/^(?!\.).{81,}$/gm, (line) =>
    line.replaceAll(/(.{1,80})(?: (?![.'])|$)/g, '$1\n').trimEnd(),
  );
}

/** Escapes a line of text, including its hyphens, so that they can be copied. Code becomes bold, and *names* italic. */
function formatLine(line: string): string {
  const text = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  // Indented code has no markup.
  if (text.startsWith('    ')) return text;
  return text.replaceAll(/`(.*?)`/g, '\\fB$1\\fR').replaceAll(/\*([^\s*]+)\*/g, '\\fI$1\\fR');
}
