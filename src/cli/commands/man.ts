import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Option } from '../../config/settings/setting.ts';
import { options } from '../../config/settings/settings.ts';
import { version } from '../../version.ts';
import { type CommandDescription, describeProgram, type FlagDescription } from '../description.ts';

const program = 'login-relay';

/** The page in Markdown. A line that begins with a dot is roff. */
const page = readFileSync(new URL('./manual.md', import.meta.url), 'utf8');

/**
 * `login-relay man`: the manual page as man(1) reads it, with the date of the release or, from source, today's.
 *
 * @see man-pages(7), groff_man(7)
 */
export function man(commandLine: Command): string {
  const { main, commands } = describeProgram(commandLine);
  // The build of the executable replaces this variable by its value.
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  const time = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000);
  const groups = Map.groupBy(main.flags, ({ option }) => option?.group ?? 'Other');
  const parts: Readonly<Record<string, string>> = {
    date: time.toISOString().slice(0, 10),
    version,
    synopsis: [main, ...commands].map(usage).join('\n.br\n'),
    commands: commands.map(commandItem).join('\n'),
    options: [...groups]
      .map(([group, flags]) => [`## ${group}`, ...flags.map(flagItem)].join('\n'))
      .join('\n'),
    variables: Object.values<Option>(options)
      .map(({ variable, flag, argument }) => `\`${variable}\`\n: As ${literal(flag, argument)}.`)
      .join('\n'),
  };
  return roff(page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? ''));
}

function usage(command: CommandDescription): string {
  const takesOptions = command.flags.some(({ long }) => long !== '--help');
  return headOf(command) + (takesOptions ? ' [*options*]' : '');
}

function headOf({ name, argument }: CommandDescription): string {
  const words = name === program ? name : `${program} ${name}`;
  return literal(words, argument?.term);
}

function commandItem(command: CommandDescription): string {
  const { help, flags, argument } = command;
  const accepted = argument ? [`It takes one of: ${argument.words.join(', ')}.`] : [];
  const own = flags.filter(({ option, long }) => option === undefined && long !== '--help');
  const ownItems = own.length === 0 ? [] : ['.RS', ...own.map(flagItem), '.RE'];
  return [headOf(command), `: ${help}`, ...accepted, ...ownItems].join('\n');
}

function flagItem({ short, long, argument, help, option, words }: FlagDescription): string {
  const forms = short === undefined ? literal(long, argument) : `\`${short}\`, ${literal(long)}`;
  const about = words.some((word) => help.startsWith(word)) ? help : capitalized(help);
  return [forms, `: ${about}.`, ...(option ? [valuesOf(option)] : [])].join('\n');
}

function valuesOf({ variable, otherwise = '', default: value }: Option): string {
  const absent = otherwise.startsWith('required')
    ? capitalized(otherwise)
    : `Default: ${value === undefined ? otherwise : literal(value)}`;
  return `: Variable: ${literal(variable)}.\n${absent}.`;
}

/** Words to type, and what follows them: `<shell>`, or `[command]` if it may be left out. */
function literal(words: string, argument?: string): string {
  const name = argument?.replace(/^<(.*)>$/, '*$1*').replace(/^\[(.*)\]$/, '[*$1*]');
  return `\`${words}\`${name === undefined ? '' : ` ${name}`}`;
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

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
