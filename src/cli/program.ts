import { Argument, Command, Option as Flag } from 'commander';
import type { OptionSources } from '../config/option-sources.ts';
import type { Option } from '../config/settings/setting.ts';
import { options } from '../config/settings/settings.ts';
import { version } from '../version.ts';
import type { CheckFlags } from './commands/check.ts';
import type { ClientIdFlags } from './commands/client-id.ts';
import type { Shell } from './commands/completion.ts';
import type { ConfigAction } from './commands/config.ts';
import type { DemoFlags } from './commands/demo.ts';
import { formatAllOptions, formatVariables, helpLayout } from './help.ts';
import { print } from './print.ts';

type Flags = OptionSources['flags'];

const examples = `
Examples:
  $ login-relay demo
  $ login-relay --origin https://app.example.com \\
      --base-url https://login.example.com \\
      --client-id Ov23liEXAMPLE \\
      --client-secret-file /etc/login-relay/client-secret \\
      --key-file /etc/login-relay/key`;

/**
 * Describes the command line. A command that can fail without an error calls `setExitCode`.
 *
 * Each command loads its own modules, so that serving does not load the others.
 */
export function createProgram(environment: OptionSources['environment'], setExitCode: (code: number) => void): Command {
  const program = new Command('login-relay')
    .description('Adds OAuth 2.0 login to a static front end.')
    .usage('[command] [options]')
    .enablePositionalOptions()
    .configureHelp(helpLayout)
    .helpOption('-h, --help', 'explain this command')
    .exitOverride()
    // `main` reports usage errors instead, because Commander would quote values, which may be secret.
    .configureOutput({ outputError: () => {}, writeOut: (text) => print(text).catch(() => {}) })
    .showSuggestionAfterError(false)
    .addHelpText('after', examples)
    .hook('preSubcommand', (self) => {
      if (Object.keys(self.opts()).length > 0) self.error('error: give options after the command');
    });

  const sourcesOf = (flags: Flags): OptionSources => ({ flags, environment });
  const runRelay = async (flags: Flags) => {
    const { serve } = await import('./commands/serve.ts');
    await serve(sourcesOf(flags));
  };
  addOptions(program).version(version).action(runRelay);
  addOptions(addCommand(program, 'serve', 'Run the relay. This is the default command.')).action(runRelay);
  addConfiguredCommands(program, sourcesOf, setExitCode);
  addTrialCommands(program);
  addPrintingCommands(program);
  addHelpCommands(program);
  return program.helpCommand(false);
}

function addCommand(program: Command, command: string, description: string): Command {
  return program.command(command).description(description);
}

/** Adds the commands that read the configuration of a relay. */
function addConfiguredCommands(
  program: Command,
  sourcesOf: (flags: Flags) => OptionSources,
  setExitCode: (code: number) => void,
): void {
  addOptions(
    addCommand(program, 'check', 'Check the configuration, the provider and the addresses.')
      .option('--json', 'print the report as JSON')
      .option('--verbose', 'print the configuration, too')
      .option(
        '--login [provider]',
        "wait in the relay's place for one login in a browser, and show what the provider answers",
      )
      .addHelpText('after', checkHelp),
  ).action(async ({ json = false, verbose = false, login = false, ...flags }: Flags & Partial<CheckFlags>) => {
    const { check } = await import('./commands/check.ts');
    setExitCode(await check(sourcesOf(flags), { json, verbose, login }));
  });
  addOptions(addCommand(program, 'health', 'Ask the relay on this machine whether it is ready.'), [
    options.port,
    options.host,
    options.tlsCert,
    options.config,
  ]).action(async (flags: Flags) => {
    const { health } = await import('./commands/health.ts');
    setExitCode(await health(sourcesOf(flags)));
  });
  const actions = ['check', 'print', 'migrate', 'schema'] satisfies ConfigAction[];
  addOptions(
    addCommand(program, 'config', 'Check or print the configuration, or its schema.')
      .addArgument(new Argument('<action>').choices(actions))
      .option('--changed', 'of print: only what is set')
      .addHelpText('after', configHelp),
  ).action(async (action: ConfigAction, { changed, ...flags }: Flags & { changed?: boolean }) => {
    const { runConfigAction } = await import('./commands/config.ts');
    await print(await runConfigAction(action, sourcesOf(flags), changed));
  });
}

/** Adds the commands for people who try the relay out. */
function addTrialCommands(program: Command): void {
  addCommand(program, 'demo', 'Try it on this machine, with a provider and a front end.')
    .option(
      '--port <number>',
      'port of the relay; front end and provider use the next ones (default: the first free ones from 8000)',
    )
    .option('--origin <origin>', 'let a page of yours log in too, such as http://localhost:5173')
    .option(
      '--token-delivery <how>',
      'how that page gets the token: query, fragment, code or session (default: query; OAuth works, too)',
    )
    .action(async (flags: DemoFlags) => {
      const { demo } = await import('./commands/demo.ts');
      await demo(flags);
    });
  addCommand(program, 'providers', 'List the provider presets.').action(async () => {
    const { presets } = await import('../providers/presets.ts');
    const { formatProviders } = await import('./commands/providers.ts');
    await print(formatProviders(presets));
  });
}

/** Adds the commands that print a file, a script or an identifier. */
function addPrintingCommands(program: Command): void {
  addCommand(program, 'client-id', 'Make a client_id for a page, such as a preview.')
    .requiredOption('--client-key-file <path>', 'client-key-file of the front end')
    .requiredOption('--front-end <name>', 'name of the front end')
    .requiredOption(
      '--redirect-uri <url>',
      'page that logins return to; repeat the flag for several',
      (url: string, earlier: readonly string[] = []) => [...earlier, url],
    )
    .option('--days <number>', 'days after which the client_id ends', '14')
    .action(async (flags: ClientIdFlags) => {
      const { makeClientId } = await import('./commands/client-id.ts');
      await print(`${makeClientId(flags)}\n`);
    });
  addCommand(program, 'systemd', 'Print the systemd unit of this relay.')
    .option('--template', 'print the unit for several relays, login-relay@<port>, instead')
    .option('--socket', 'print the unit of its socket instead')
    .option('--settings', 'print a template of its settings, /etc/login-relay/config.yaml, instead')
    .action(async (wanted: { template?: true; socket?: true; settings?: true }) => {
      const files = ['settings', 'socket', 'template'] as const;
      const { printUnitFile } = await import('./commands/systemd.ts');
      await printUnitFile(files.find((file) => wanted[file]) ?? 'service');
    });
  addCommand(program, 'pages', "Print the texts of the relay's pages.").action(async () => {
    const { formatPageTexts } = await import('./commands/pages.ts');
    await print(formatPageTexts());
  });
  const shells = ['bash', 'zsh', 'fish'] satisfies Shell[];
  addCommand(program, 'completion', 'Print the completion script of a shell.')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', completionExamples)
    .action(async (shell: Shell) => {
      const { completionScripts } = await import('./commands/completion.ts');
      await print(completionScripts[shell]);
    });
  // Only the completion scripts call this command.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { complete } = await import('./commands/completion.ts');
      await print(complete(words, program));
    });
}

/** Adds the commands that explain. Call it last, because help lists the commands that exist by then. */
function addHelpCommands(program: Command): void {
  addCommand(program, 'man', 'Print the manual page: login-relay man | man -l -').action(async () => {
    const { formatManualPage } = await import('./commands/man.ts');
    await print(formatManualPage(program));
  });
  addCommand(program, 'version', 'Print the version.').action(async () => {
    await print(`${version}\n`);
  });
  const { commands } = program;
  const help = addCommand(program, 'help', 'Explain a command, options, environment or exit-codes.');
  const topics = ['options', 'environment', 'exit-codes'];
  const names = program
    .createHelp()
    .visibleCommands(program)
    .map((command) => command.name());
  help
    .addArgument(new Argument('[command]').choices([...names, ...topics]))
    .action(async (name: string | undefined) => {
      if (name === 'options') await print(formatAllOptions(program));
      else if (name === 'environment' || name === 'exit-codes') {
        const { manualSection } = await import('./commands/man.ts');
        const isOnExitCodes = name === 'exit-codes';
        await print(manualSection(isOnExitCodes ? 'EXIT STATUS' : 'ENVIRONMENT'));
        if (!isOnExitCodes) await print(formatVariables());
      } else (commands.find((command) => command.name() === name) ?? program).help();
    });
}

const checkHelp = `
Exit codes:
  0  no problem found
  1  a problem found
  2  the configuration has faults

Examples:
  login-relay check --config relay.yaml
  login-relay check --config relay.yaml --login
  login-relay check --config relay.yaml --login github/app`;

const configHelp = `
Actions:
  check    report the faults
  print    print it as a file
  migrate  turn flags into a file
  schema   print the file's JSON Schema

Exit codes:
  0  the configuration has no faults
  2  the configuration has faults`;

const completionExamples = `
Load it in your shell's start file, for zsh after compinit:
  bash   source <(login-relay completion bash)
  zsh    source <(login-relay completion zsh)
  fish   login-relay completion fish | source`;

/** Adds flags for settings of the relay to a command: by default, for all settings. */
function addOptions(command: Command, settings: readonly Option[] = Object.values(options)): Command {
  for (const option of settings) {
    const flag = new Flag([option.flag, option.argument].join(' ').trim(), formatOptionHelp(option));
    // Every value is kept, so that a flag that is given twice can be reported.
    flag.argParser((value: string, earlier: readonly string[] = []) => [...earlier, value]);
    if (option.argument === undefined) flag.preset('true');
    command.addOption(flag.helpGroup(`${option.group}:`));
  }
  return command;
}

/** Formats the help of an option, with its variable and its default. */
function formatOptionHelp({ help, variable, otherwise, default: value }: Option): string {
  const isRequired = otherwise?.startsWith('required');
  return `${help} (${variable}; ${isRequired ? otherwise : `default: ${value ?? otherwise ?? 'none'}`})`;
}
