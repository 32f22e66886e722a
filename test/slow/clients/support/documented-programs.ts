import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documented } from '../../../harness/project/shipped-pages.ts';
import { Workspace } from '../../../harness/system/workspace.ts';
import { secret } from '../../../resources/support/resources-relay.ts';

/** Programs of docs/resources.md, which run with the libraries of these tests. */
export class DocumentedPrograms {
  readonly #folder = mkdtempSync(join(import.meta.dirname, '..', 'node_modules', 'documented-'));
  readonly #workspace: Workspace;

  static async create(): Promise<DocumentedPrograms> {
    return new DocumentedPrograms(await Workspace.create());
  }

  private constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /**
   * Runs a program at this port.
   *
   * @param change what else somebody edits, in it and in what it imports
   */
  async serve(
    name: string,
    {
      relay,
      port,
      change = (code) => code,
    }: {
      readonly relay: string;
      readonly port: number;
      readonly change?: (code: string) => string;
    },
  ): Promise<void> {
    const folder = mkdtempSync(join(this.#folder, 'program-'));
    for (const file of [name, 'person.js']) {
      const code = change(documented(file, relay, 'resources'));
      writeFileSync(join(folder, file), code.replace('9000', `${port}`));
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const listens = { host: '127.0.0.1', port };
    const environment = { NOTES_SECRET: secret };
    await this.#workspace.serve(process.execPath, [join(folder, name)], listens, environment);
  }

  async stop(): Promise<void> {
    await this.#workspace.close();
    rmSync(this.#folder, { recursive: true });
  }
}

/** Edits mcp.js as the page says, for a server behind a proxy. */
export const withoutIntrospection = (code: string): string =>
  code
    .replace(/^const metadata.*\nconst oauthMetadata.*$/m, '')
    .replace(/^async function verifyAccessToken.*?^}$/ms, '')
    .replace(/^app\.use\(mcpAuth.*$/m, '')
    .replace(/^app\.use\('\/mcp'.*?^}\)\);$/ms, '')
    .replace('authInfo }', 'requestInfo }')
    .replace('authInfo.extra.sub', "requestInfo.headers['x-forwarded-user']");
