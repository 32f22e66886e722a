import { readFileSync } from 'node:fs';
import type { Command, Option as Flag, Help } from 'commander';
import { version } from '../../version.ts';
import { formatAllOptions } from '../help.ts';
import { wrap } from '../print.ts';

/** The manual page in Markdown. Lines that begin with a dot are roff. */
const page = readFileSync(new URL('./manual.md', import.meta.url), 'utf8');

/** A width at which help places each description below its term, indented by six spaces. */
const widthWithTermsAbove = 60;

/**
 * `login-relay man`: the manual page for man(1), with the date of the release or, from source, of today.
 *
 * @see man-pages(7), groff_man(7)
 */
export function formatManualPage(program: Command): string {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  // The build of the executable replaces this expression by the value that the variable has then.
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  const time = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000);
  const parts: Readonly<Record<string, string>> = {
    date: time.toISOString().slice(0, 10),
    version,
    commands: commands.map((command) => formatCommand(command, help)).join('\n'),
    options: helpToMarkdown(formatAllOptions(program, widthWithTermsAbove)),
  };
  return markdownToRoff(page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? ''));
}

/** Turns help into Markdown of the page: headings of groups, and flags as terms of a definition list. */
function helpToMarkdown(help: string): string {
  const withHeadings = help.trim().replaceAll(/\n*^(\S.*):$/gm, '\n## $1');
  // A flag is on a line of its own, and its description begins on the next line.
  const withTerms = withHeadings.replaceAll(/^ {2}(-.*)\n {6}/gm, '`$1`\n: ');
  // The further lines of a description are indented as well.
  return withTerms.replaceAll(/^ {6}/gm, '');
}

/** Returns a section of the manual page without markup, for a terminal. */
export function manualSection(name: 'ENVIRONMENT' | 'EXIT STATUS'): string {
  const [, fromSection = ''] = page.split(`# ${name}\n`);
  const [section = ''] = fromSection.split(/^# /m);
  const formatDescription = (text: string) =>
    wrap(text, 74)
      .map((line) => `      ${line}`)
      .join('\n');
  return section.replaceAll('`', '').replaceAll(/^: (.*)$/gm, (_, text: string) => formatDescription(text));
}

/** Formats a command with its own flags. The page lists the relay's settings elsewhere, once for all commands. */
function formatCommand(command: Command, help: Help): string {
  const ownFlags = help
    .visibleOptions(command)
    .filter(({ helpGroupHeading, long }) => helpGroupHeading === undefined && long !== '--help');
  const flags = ownFlags.length === 0 ? [] : ['.RS', ...ownFlags.map(formatFlag), '.RE'];
  const title = `login-relay ${help.subcommandTerm(command)}`;
  return [formatDefinition(title, command.description()), ...flags].join('\n');
}

const formatFlag = ({ flags, description }: Flag) => formatDefinition(flags, `${description}.`);

/** Formats a term and its description as an item of a definition list. */
const formatDefinition = (term: string, text: string) => `\`${term}\`\n: ${text}`;

/** Turns the Markdown of the page into roff, with lines of at most 80 characters. The order of the steps matters. */
function markdownToRoff(markdown: string): string {
  // Text is escaped first, because the roff that later steps add must not be escaped. A line that begins with a dot is
  // roff already.
  const escaped = markdown.replaceAll(/^[^.\n].*/gm, formatLine);
  const withHeadings = escaped.replaceAll(/^# /gm, '.SH ').replaceAll(/^## /gm, '.SS ');
  // A definition list: a term, then a line that begins with a colon.
  const withLists = withHeadings.replaceAll(/^(.+)\n: /gm, '.TP\n$1\n');
  // Indented code is replaced with the empty line before it, which the next step would make a paragraph.
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

/** Escapes a line of text, and makes `code` bold and *names* italic. Unescaped hyphens could not be copied as hyphens. */
function formatLine(line: string): string {
  const text = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  // Indented code has no markup.
  if (text.startsWith('    ')) return text;
  return text.replaceAll(/`(.*?)`/g, '\\fB$1\\fR').replaceAll(/\*([^\s*]+)\*/g, '\\fI$1\\fR');
}
