// Writes the manual page to standard output.

import { type Option, options } from '../src/config/options.ts';
import { version } from '../src/version.ts';
import { commands, type FlagDescription, main } from './command-description.ts';
import { example, item, literal, placeholder, text } from './roff.ts';
import { sourceDate } from './source-date.ts';

const { name } = main;

const page = `.TH ${name.toUpperCase()} 1 ${date()} "${name} ${version}" "User Commands"
.nh
.SH NAME
${text(name)} \\- log the users of a static front end in with an OAuth 2.0 provider
.SH SYNOPSIS
${synopsis()}
.SH DESCRIPTION
${literal(name)} lets a web page without a back end log its users in with GitHub, or with any other
provider of OAuth 2.0 or OpenID Connect.
It holds the client secret, exchanges the authorization code, hands the access token to the page,
and passes the user record on.
.PP
A page sends the browser to ${literal('/auth/provider')} to log in,
and gets the user record from ${literal('/api/user')} with the token.
The callback URL to register at the provider is the base URL and ${literal('/auth/provider/callback')}.
.PP
Nothing is stored: any number of copies can run side by side.
.SH COMMANDS
Options stand after the command.
${commands.map((command) => item(literal(`${name} ${command.name}`), `${sentence(command.help)}`) + ownFlags(command.flags)).join('')}.SH OPTIONS
An option can be given as a flag or as an environment variable; the flag beats the variable, and a
variable that is set but empty counts as unset.
Every fault is reported at once, before anything starts.
${[...groups()].map(([group, flags]) => `.SS ${group}\n${flags.map(optionItem).join('')}`).join('')}.SS Other
${main.flags
  .filter(({ option }) => option === undefined)
  .map(flagItem)
  .join('')}.SH ENVIRONMENT
Each variable stands for its option.
.PD 0
${Object.values<Option>(options).map(variableItem).join('')}.PD
${item(
  `${literal('HTTPS_PROXY')}, ${literal('NO_PROXY')}`,
  'The proxy for calls to the provider, and the hosts that are called without it.',
)}${item(
  literal('NODE_EXTRA_CA_CERTS'),
  'A file with certificates (PEM) to trust besides the built\\-in ones.',
)}.SH FILES
${item(
  literal('$CREDENTIALS_DIRECTORY/provider-client-secret'),
  `The client secret, where neither flag nor variable gives it: the systemd credential of that name, which ${literal('LoadCredential=')} passes on.`,
)}.SH EXIT STATUS
${item('0', 'It was told to stop, or did what it was asked.')}${item(
  '1',
  `A port could not be opened, an error came up that nobody foresaw, ${literal(`${name} check`)} has found a problem, or ${literal(`${name} health`)} has found the relay not ready or not there.`,
)}${item('2', 'The command line or the configuration is at fault.')}.SH EXAMPLES
Try it on this machine, without an account or a configuration:
${example(`${name} demo`)}.PP
Serve the page at https://app.example.com, behind a proxy that ends TLS for
https://login.example.com:
${example(
  `${name} --origin https://app.example.com \\`,
  '    --base-url https://login.example.com \\',
  '    --client-id Iv1.0123456789abcdef \\',
  '    --client-secret-file /etc/login-relay/client-secret',
)}.PP
See what would be in effect, and whether the provider agrees:
${example(
  `${name} check --issuer https://accounts.example.com \\`,
  '    --origin https://app.example.com --client-id app \\',
  '    --client-secret-file /etc/login-relay/client-secret',
)}.SH SECURITY
The client secret goes to the token endpoint of the provider and nowhere else.
Give it as a file or as a systemd credential: a flag stays in the shell's history.
.PP
Each login is tied to the browser that started it; a callback that was not is refused before its
code is spent.
${literal('--state-check off')} ends that protection.
.PP
Only the configured origin may read the answers from a browser.
Beyond one machine, serve the relay over TLS.
.SH SEE ALSO
.BR systemd.exec (5),
.BR systemd\\-creds (1)
.PP
RFC 6749 (OAuth 2.0), RFC 7636 (PKCE), RFC 9207 (issuer identification), RFC 9700 (best current
practice)
`;

process.stdout.write(fold(page));

/** Ends lines before column 80, as the source of a page should; never before a macro's sign. */
function fold(source: string): string {
  return source.replaceAll(/^(?!\.).{81,}$/gm, (line) =>
    line.replaceAll(/(.{1,80})(?: (?![.'])|$)/g, '$1\n').trimEnd(),
  );
}

function date(): string {
  return sourceDate.toISOString().slice(0, 10);
}

function synopsis(): string {
  const flags = ` [${placeholder('options')}]`;
  return ['', ...commands.map((command) => ` ${command.name}`)]
    .map((command) => literal(name + command) + (takesOptions(command.trim()) ? flags : ''))
    .join('\n.br\n');
}

function takesOptions(command: string): boolean {
  const { flags } = commands.find((one) => one.name === command) ?? main;
  return flags.some(({ long }) => long !== '--help');
}

function groups(): Map<string, readonly FlagDescription[]> {
  return Map.groupBy(
    main.flags.filter(({ option }) => option !== undefined),
    ({ option }) => option?.group ?? '',
  );
}

function ownFlags(flags: readonly FlagDescription[]): string {
  const own = flags.filter(({ option, long }) => option === undefined && long !== '--help');
  return own.length === 0 ? '' : `.RS\n${own.map(flagItem).join('')}.RE\n`;
}

function flagItem({ short, long, argument, help }: FlagDescription): string {
  const forms = [short, long].filter((form) => form !== undefined).map(literal);
  return item(forms.join(', ') + argumentOf(argument), sentence(help));
}

function optionItem({ long, argument, help, words, option }: FlagDescription): string {
  if (option === undefined) return '';
  const { variable, otherwise, default: value } = option;
  return item(
    literal(long) + argumentOf(argument),
    words.some((word) => help.startsWith(word)) ? `${text(help)}.` : sentence(help),
    `Variable: ${literal(variable)}.\n${value === undefined ? absent(otherwise ?? '') : `Default: ${literal(value)}.`}`,
  );
}

function absent(otherwise: string): string {
  return otherwise.startsWith('required') ? sentence(otherwise) : `Default: ${text(otherwise)}.`;
}

function variableItem({ variable, flag, argument }: Option): string {
  return item(literal(variable), `As ${literal(flag)}${argumentOf(argument?.slice(1, -1))}.`);
}

function argumentOf(argument: string | undefined): string {
  return argument === undefined ? '' : ` ${placeholder(argument)}`;
}

function sentence(help: string): string {
  return `${text(help.charAt(0).toUpperCase() + help.slice(1))}.`;
}
