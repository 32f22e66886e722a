import type { Option } from '../../config/settings/setting.ts';
import { options } from '../../config/settings/settings.ts';
import { version } from '../../version.ts';
import type { CommandDescription, FlagDescription, ProgramDescription } from '../description.ts';
import {
  example,
  fold,
  item,
  literal,
  placeholder,
  section,
  sentence,
  subsection,
  text,
} from './roff.ts';

/**
 * The manual page in roff, as man(1) reads it.
 *
 * @param date the day that the page carries, as `2026-11-21`
 * @see man-pages(7), groff_man(7)
 */
export function manualPage({ main, commands }: ProgramDescription, date: string): string {
  const { name } = main;
  const page = [
    `.TH ${name.toUpperCase()} 1 ${date} "${name} ${version}" "User Commands"\n.nh\n`,
    section('NAME', `${text(name)} \\- OAuth 2.0 login for static front ends`),
    section('SYNOPSIS', synopsis(main, commands)),
    section('DESCRIPTION', description(name)),
    section('COMMANDS', commandItems(name, commands)),
    section('OPTIONS', optionItems(main)),
    section('ENVIRONMENT', environment()),
    section('FILES', files()),
    section('EXIT STATUS', exitStatus(name)),
    section('EXAMPLES', examples(name)),
    section('SECURITY', security()),
    section('SEE ALSO', seeAlso()),
  ];
  return fold(page.join(''));
}

function synopsis(main: CommandDescription, commands: readonly CommandDescription[]): string {
  const lines = commands.map(({ name, flags, argument }) => {
    const words = argument === undefined ? '' : ` ${argumentTerm(argument.term)}`;
    return literal(`${main.name} ${name}`) + words + (takesOptions(flags) ? optionsWord : '');
  });
  return [literal(main.name) + optionsWord, ...lines].join('\n.br\n');
}

const optionsWord = ` [${placeholder('options')}]`;

function takesOptions(flags: readonly FlagDescription[]): boolean {
  return flags.some(({ long }) => long !== '--help');
}

function description(name: string): string {
  return `${literal(name)} adds a login to a web page, with GitHub or any other OAuth 2.0 or OpenID
Connect provider.
The page needs no back end.
The relay holds the client secret, exchanges the authorization code, hands the access token to the
page, and passes user lookups on to the provider.
.PP
To log in, the page sends the browser to ${literal('/auth/provider')}.
With the token, it gets the user record from ${literal('/api/user')}.
Register the base URL with ${literal('/auth/provider/callback')} as the callback URL at the provider.
.PP
The relay stores nothing, so any number of relays can run side by side.`;
}

function commandItems(name: string, commands: readonly CommandDescription[]): string {
  const items = commands.map(({ name: command, help, flags, argument }) => {
    const words = argument === undefined ? '' : ` ${argumentTerm(argument.term)}`;
    const accepted =
      argument === undefined ? [] : [`It takes one of: ${argument.words.join(', ')}.`];
    const about = [text(help), ...accepted.map(text)].join('\n');
    return item(literal(`${name} ${command}`) + words, about) + ownFlags(flags);
  });
  return `Give options after the command.\n${items.join('')}`;
}

function ownFlags(flags: readonly FlagDescription[]): string {
  const own = flags.filter(({ option, long }) => option === undefined && long !== '--help');
  return own.length === 0 ? '' : `.RS\n${own.map(flagItem).join('')}.RE\n`;
}

function optionItems({ flags }: CommandDescription): string {
  const groups = Map.groupBy(flags, ({ option }) => option?.group ?? 'Other');
  return `Each option is a flag or an environment variable.
A flag overrides its variable.
An empty variable counts as unset.
If the configuration has faults, the relay lists all of them and does not start.
${[...groups].map(([group, members]) => subsection(group, members.map(flagItem).join(''))).join('')}`;
}

function flagItem(flag: FlagDescription): string {
  const { short, long, argument, help, option, words } = flag;
  const forms = [short, long].filter((form) => form !== undefined).map(literal);
  const about = words.some((word) => help.startsWith(word)) ? `${text(help)}.` : sentence(help);
  const values = option === undefined ? [] : [valuesOf(option)];
  return item(forms.join(', ') + argumentOf(argument), about, ...values);
}

function valuesOf({ variable, otherwise = '', default: value }: Option): string {
  const absent = otherwise.startsWith('required')
    ? sentence(otherwise)
    : `Default: ${text(otherwise)}.`;
  return `Variable: ${literal(variable)}.\n${value === undefined ? absent : `Default: ${literal(value)}.`}`;
}

function environment(): string {
  const variables = Object.values<Option>(options).map(({ variable, flag, argument }) =>
    item(literal(variable), `As ${literal(flag)}${argumentOf(argument?.slice(1, -1))}.`),
  );
  const proxy = item(
    `${literal('HTTPS_PROXY')}, ${literal('NO_PROXY')}`,
    'The proxy for https calls to the provider, and the hosts that are called without it.',
  );
  const authorities = item(
    literal('NODE_EXTRA_CA_CERTS'),
    'A file with certificate authorities (PEM) to trust in addition to the built\\-in ones.',
  );
  return `Each variable sets its option.\n.PD 0\n${variables.join('')}.PD\n${proxy}${authorities}`;
}

function files(): string {
  return [
    item(
      literal('/etc/login-relay/config.yaml'),
      `The configuration file of the systemd service. Without ${literal('--config')} and ${literal('LOGIN_RELAY_CONFIG')}, the relay reads none.`,
    ),
    item(
      literal('$CREDENTIALS_DIRECTORY/provider-client-secret'),
      `The client secret, if no flag or variable sets it. This is the systemd credential of that name, from ${literal('LoadCredential=')}.`,
    ),
    item(
      `${literal('$CREDENTIALS_DIRECTORY/key')}, ${literal('$STATE_DIRECTORY/key')}`,
      `The key file, if no flag or variable names one: the systemd credential, else the file in the state directory, from ${literal('StateDirectory=')}. The relay creates the latter.`,
    ),
  ].join('');
}

function exitStatus(name: string): string {
  return [
    item('0', 'The relay stopped after a signal, or the command succeeded.'),
    item(
      '1',
      `A port could not be opened, an unexpected error occurred, ${literal(`${name} check`)} found a problem, or ${literal(`${name} health`)} found that the relay is not ready.`,
    ),
    item('2', 'The command line or the configuration has faults.'),
  ].join('');
}

function examples(name: string): string {
  return `Try the relay on this machine, without an account or a configuration:
${example(`${name} demo`)}.PP
Run the relay for the page https://app.example.com, behind a proxy that terminates TLS for
https://login.example.com:
${example(
  `${name} --origin https://app.example.com \\`,
  '    --base-url https://login.example.com \\',
  '    --client-id Iv1.0123456789abcdef \\',
  '    --client-secret-file /etc/login-relay/client-secret \\',
  '    --key-file /etc/login-relay/key',
)}.PP
Show the configuration in effect, and check it at the provider:
${example(
  `${name} check --issuer https://accounts.example.com \\`,
  '    --origin https://app.example.com --client-id app \\',
  '    --client-secret-file /etc/login-relay/client-secret',
)}.PP
Complete commands and flags in this shell (bash):
${example(`source <(${name} completion bash)`)}`;
}

function security(): string {
  return `The relay sends the client secret only to the token endpoint of the provider.
Give it in a file or as a systemd credential: the shell's history keeps a flag.
.PP
Each login is bound to the browser that started it.
The relay refuses a callback from another browser before it spends the code.
${literal('--state-check off')} turns this protection off.
.PP
CORS allows only the configured origin.
Use TLS unless the relay is only used on this machine.`;
}

function seeAlso(): string {
  return `.BR systemd.exec (5),
.BR systemd\\-creds (1)
.PP
RFC 6749 (OAuth 2.0), RFC 7636 (PKCE), RFC 9207 (issuer identification), RFC 9700 (best current
practice)`;
}

function argumentTerm(term: string): string {
  return term.startsWith('[')
    ? `[${placeholder(term.slice(1, -1))}]`
    : placeholder(term.slice(1, -1));
}

function argumentOf(argument: string | undefined): string {
  return argument === undefined ? '' : ` ${placeholder(argument)}`;
}
