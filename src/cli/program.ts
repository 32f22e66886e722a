import { Command, type CommanderError, Option as Flag } from 'commander';
import { type Option, type OptionName, options } from '../config/options.ts';
import { version } from '../version.ts';

/** What each flag was given, in order. */
type Flags = Partial<Record<OptionName, readonly string[]>>;

/** What each command does; the number is the exit code. */
export interface Commands {
  serve(flags: Flags): Promise<number>;
  check(flags: Flags, json: boolean): Promise<number>;
  health(flags: Flags): Promise<number>;
  providers(): Promise<number>;
  demo(port: string): Promise<number>;
  systemd(file: 'service' | 'template' | 'socket' | 'settings'): Promise<number>;
}

const examples = `
Examples:
  $ login-relay demo
  $ login-relay --origin https://app.example.com --base-url https://login.example.com \\
      --client-id Iv1.0123456789abcdef --client-secret-file /etc/login-relay/client-secret
  $ FRONTEND_ORIGIN=http://localhost:3000 PROVIDER_CLIENT_ID=… PROVIDER_CLIENT_SECRET=… login-relay
`;

/** Describes the command line. The exit code of the command that ran goes to `exit`. */
export function createProgram(commands: Commands, exit: (code: number) => void): Command {
  const program = new Command('login-relay')
    .description('Logs the users of a static front end in with an OAuth 2.0 provider.')
    .version(version)
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    // What went wrong is written by who catches it: commander would quote values.
    .configureOutput({ outputError: () => {} })
    .addHelpText('after', examples)
    .hook('preSubcommand', (self) => {
      if (Object.keys(self.opts()).length > 0) self.error('error: give options after the command');
    });
  addOptions(program).action(async (flags: Flags) => exit(await commands.serve(flags)));
  addOptions(program.command('serve').description('run the relay (as without a command)')).action(
    async (flags: Flags) => exit(await commands.serve(flags)),
  );
  addOptions(
    program
      .command('check')
      .description('show the configuration in effect, ask the provider, and say what is wrong')
      .option('--json', 'report for scripts')
      .addHelpText(
        'after',
        '\nExit codes: 0 no problem, 1 a problem, 2 the configuration is at fault.',
      ),
  ).action(async ({ json = false, ...flags }: Flags & { json?: boolean }) =>
    exit(await commands.check(flags, json)),
  );
  addOptions(
    program.command('health').description('ask the relay on this machine whether it is ready'),
    [options.port, options.host, options.tlsCert],
  ).action(async (flags: Flags) => exit(await commands.health(flags)));
  program
    .command('providers')
    .description('list the provider presets')
    .action(async () => exit(await commands.providers()));
  program
    .command('demo')
    .description('try it on this machine: a provider, the relay and a front end')
    .option('--port <number>', 'first of three ports: relay, front end, provider', '8000')
    .action(async ({ port }: { port: string }) => exit(await commands.demo(port)));
  program
    .command('systemd')
    .description('print the unit that runs this relay as a service')
    .option('--template', 'print the unit for several relays, login-relay@<port>, instead')
    .option('--socket', 'print the unit of its socket instead')
    .option('--settings', 'print a template of its settings, /etc/default/login-relay, instead')
    .action(async (wanted: { template?: true; socket?: true; settings?: true }) => {
      const files = ['settings', 'socket', 'template'] as const;
      exit(await commands.systemd(files.find((file) => wanted[file]) ?? 'service'));
    });
  return program;
}

/** Says what was wrong with the command line, without the values that were on it. */
export function describeUsageError({ code, message }: CommanderError): string {
  if (code === 'commander.unknownOption') {
    const [first = '', suggestion = ''] = message.split('\n');
    const name = /'(--[\w-]+|-\w)/.exec(first)?.[1] ?? '';
    if (first.includes(`${options.insecureHttp.flag}=`)) return `${name} takes no value`;
    return `unknown option ${name} ${suggestion}`.trim();
  }
  if (code === 'commander.unknownCommand' || code === 'commander.excessArguments') {
    return 'unknown command or stray argument';
  }
  return message.replace(/^error: /, '');
}

function addOptions(command: Command, taken: readonly Option[] = Object.values(options)): Command {
  for (const option of taken) {
    const flag = new Flag([option.flag, option.argument].join(' ').trim(), helpOf(option));
    // Every value is kept, so that a flag given twice can be told from one given once.
    flag.argParser((value: string, earlier: readonly string[] = []) => [...earlier, value]);
    if (option.argument === undefined) flag.preset('true');
    command.addOption(flag.helpGroup(`${option.group}:`));
  }
  return command;
}

function helpOf({ help, variable, otherwise, default: value }: Option): string {
  return `${help} (${variable}; ${otherwise ?? `default: ${value}`})`;
}
