import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { registration } from '../registration.ts';
import type { Contender } from './contender.ts';
import { cores } from './cores.ts';
import { listens } from './listens.ts';
import { PinnedProcess } from './pinned-process.ts';

/** A contender that learns everything, its port included, from a configuration file. */
interface Description extends Pick<Contender, 'name' | 'kind' | 'workloads'> {
  readonly protection: boolean;
  /** The executable. */
  readonly program: string;
  /** A file with `@name@` where a value is to be put. */
  readonly template: string;
  /** The words after the program. */
  words(file: string): readonly string[];
}

/** Makes a contender of a server and its configuration. */
export function configuredServer(description: Description): Contender {
  const { name, kind, workloads, protection, program, template, words } = description;
  return {
    name,
    kind,
    workloads,
    missing: () => (existsSync(program) ? undefined : `there is no ${program}`),
    async start({ near }) {
      const directory = mkdtempSync(join(tmpdir(), 'login-relay-bench-'));
      const port = await freePort();
      const provider = `127.0.0.1:${near.port}`;
      const values = { ...registration, directory, provider, port: String(port) };
      const file = join(directory, 'configuration');
      writeFileSync(file, fill(readFileSync(template, 'utf8'), values));
      const running = new PinnedProcess(cores.server, [program, ...words(file)]);
      await running.ready(async () => (await listens(port)) || undefined);
      const { pid } = running;
      const paths = { loginPath: '/auth/provider', userPath: '/api/user' };
      return {
        target: { address: { port }, ...paths, protection, provider: near },
        pid,
        async stop() {
          await running.stop();
          rmSync(directory, { recursive: true });
        },
      };
    },
  };
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/@(\w+)@/g, (_, name) => values[name] ?? '');
}
