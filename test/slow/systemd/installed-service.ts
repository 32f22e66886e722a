import { readFileSync } from 'node:fs';
import type { StrictProvider } from '../../harness/provider/strict-provider.ts';
import { baseUrl, frontendOrigin } from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { BootedSystem } from './booted-system.ts';

/** The path of the configuration file. */
export const config = '/etc/login-relay/config.yaml';

const installCommands = commandsOf('install', /^sudo useradd [^`]*/m);

const executable = process.env['LOGIN_RELAY'];
const relay = '/usr/local/bin/login-relay';
const installRelay = executable
  ? `install /opt/login-relay/${relativeToProject(executable)} ${relay}`
  : `printf '#!/bin/sh\\nexec /opt/login-relay/scripts/node /opt/login-relay/bin/login-relay.ts "$@"\\n' |
      install /dev/stdin ${relay}`;

/** The service in a system with systemd, installed as the manual says. */
export class InstalledService {
  readonly system: BootedSystem;
  readonly port: number;
  readonly #provider: StrictProvider;

  private constructor(system: BootedSystem, port: number, provider: StrictProvider) {
    this.system = system;
    this.port = port;
    this.#provider = provider;
  }

  static async boot(provider: StrictProvider): Promise<InstalledService> {
    const service = new InstalledService(await BootedSystem.boot(), await freePort(), provider);
    const { clientSecret } = provider.registration;
    service.system.run(`
      ${installRelay}
      ${installCommands}
      sed -i s/127.0.0.1:8000/127.0.0.1:${service.port}/ /etc/systemd/system/login-relay.socket
      echo ${clientSecret} | install -m 640 /dev/stdin /etc/login-relay/client-secret
      systemctl daemon-reload
    `);
    service.configure(service.settings());
    service.system.run('systemctl enable --now login-relay');
    return service;
  }

  /** The settings of a relay at the provider. */
  settings(): Record<string, unknown> {
    const { registration, authorizeUrl, tokenUrl, userUrl } = this.#provider;
    return {
      'base-url': baseUrl,
      'key-file': '/var/lib/login-relay/key',
      providers: {
        provider: {
          'client-id': registration.clientId,
          'client-secret-file': './client-secret',
          'authorize-url': authorizeUrl,
          'token-url': tokenUrl,
          'user-url': userUrl,
          'token-request': 'query',
        },
      },
      'front-ends': { app: { origin: frontendOrigin } },
    };
  }

  /** Replaces the configuration file. */
  configure(settings: Record<string, unknown>): void {
    // JSON is YAML.
    this.system.run(`echo '${JSON.stringify(settings)}' >${config}`);
  }

  mainProcess(): string {
    return this.system.run('systemctl show --property MainPID --value login-relay').trim();
  }

  journal(): string {
    return this.system.run('journalctl --no-pager --output cat --unit login-relay');
  }

  async stop(): Promise<void> {
    await this.system.stop();
  }
}

/** The commands of a block in a manual, for root. They print nothing. */
function commandsOf(page: string, block: RegExp): string {
  const manual = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8');
  const [commands] = block.exec(manual) ?? [];
  if (commands === undefined) throw new Error(`no such commands in ${page}.md`);
  return `sudo() { "$@"; }\n${commands.replaceAll('| sudo tee ', '| tee >/dev/null ')}`;
}

function relativeToProject(path: string): string {
  return path.slice(new URL('../../..', import.meta.url).pathname.length);
}
