import { chmod, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Serving, serve } from '../../../harness/provider/serve.ts';
import { eventually } from '../../../harness/system/eventually.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { Workspace } from '../../../harness/system/workspace.ts';
import type { Given } from './mcp-clients.ts';
import { programOf } from './programs.ts';
import { serverName } from './stand-in-model.ts';

/** A command line in which a model uses MCP servers. */
export interface Agent {
  /** Adds the MCP server, and logs in there. */
  logIn(): Promise<void>;
  /** Lets the model use a tool. */
  use(tool: string): Promise<void>;
}

/** The options of a command line. */
interface AgentGiven {
  readonly workspace: Workspace;
  /** The address of the MCP server. */
  readonly url: string;
  /** The address of the model. */
  readonly model: string;
  /** A PEM file with a certificate that it has to trust. */
  readonly certificateFile: string | undefined;
}

const programs = createRequire(programOf('../programs/package.json'));
/** Without the scripts of its package, a command stays in the package for this kind of machine. */
const onThisMachine = (name: string, path: string) => programs.resolve(`${name}-${platform}-${arch}/${path}`);

async function claudeCode({ workspace, url, model, certificateFile }: AgentGiven): Promise<Agent> {
  const claude = onThisMachine('@anthropic-ai/claude-code', 'claude');
  const environment = {
    ...browserOf(workspace),
    TERM: 'xterm',
    ...(certificateFile && { NODE_EXTRA_CA_CERTS: certificateFile }),
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: 'stand-in',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  return {
    async logIn() {
      const add = ['mcp', 'add', '--scope', 'user', '--transport', 'http', serverName, url];
      await workspace.run(claude, add, environment);
      // It logs in at a terminal alone.
      const command = `'${claude}' mcp login ${serverName}`;
      await workspace.run('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], environment);
    },
    async use(tool) {
      const allowed = ['--allowedTools', `mcp__${serverName}__${tool}`];
      await workspace.run(claude, ['--print', 'Use the tool', ...allowed], environment);
    },
  };
}

async function codex({ workspace, url, model, certificateFile }: AgentGiven): Promise<Agent> {
  const program = programs.resolve('@openai/codex/bin/codex.js');
  const environment = {
    ...browserOf(workspace),
    ...(certificateFile && { SSL_CERT_FILE: certificateFile, CODEX_CA_CERTIFICATE: certificateFile }),
  };
  await mkdir(workspace.path('.codex'));
  await workspace.write(
    '.codex/config.toml',
    `model = "stand-in"
model_provider = "standin"
mcp_oauth_credentials_store = "file"
[model_providers.standin]
name = "standin"
base_url = "${model}/v1"
wire_api = "responses"
`,
  );
  const run = (...words: readonly string[]) => workspace.run(process.execPath, [program, ...words], environment);
  return {
    logIn: () => run('mcp', 'add', serverName, '--url', url),
    use: () => run('exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Use the tool'),
  };
}

async function openCode({ workspace, url, model, certificateFile }: AgentGiven): Promise<Agent> {
  const program = onThisMachine('opencode', 'bin/opencode');
  const environment = {
    ...browserOf(workspace),
    // It has no way to trust a certificate of one's own.
    ...(certificateFile && { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
  const redirectUri = `http://127.0.0.1:${await freePort()}/mcp/oauth/callback`;
  await mkdir(workspace.path('.config/opencode'), { recursive: true });
  const standIn = {
    npm: '@ai-sdk/openai-compatible',
    name: 'standin',
    options: { baseURL: `${model}/v1`, apiKey: 'stand-in' },
    models: { model: { name: 'model', tool_call: true } },
  };
  const config = {
    mcp: { [serverName]: { type: 'remote', url, enabled: true, oauth: { redirectUri } } },
    model: 'standin/model',
    provider: { standin: standIn },
  };
  await workspace.write('.config/opencode/opencode.json', JSON.stringify(config));
  return {
    logIn: () => workspace.run(program, ['mcp', 'auth', serverName], environment),
    use: () => workspace.run(program, ['run', 'Use the tool'], environment),
  };
}

/** The command lines, by their names. */
export const agents = { 'Claude Code': claudeCode, Codex: codex, opencode: openCode } as const;

/** A folder for a command line, with a browser in which a person logs in. */
export class AgentHome {
  readonly workspace: Workspace;
  readonly #person: Serving;

  static async create({ visit }: Given['rig']): Promise<AgentHome> {
    const person = await serve(async (request, response) => {
      const back = await visit(new URL(await text(request)));
      response.end();
      // A program may open the browser before it listens.
      await eventually(async () => expect((await fetch(back)).ok).to.equal(true));
    });
    const workspace = await Workspace.create();
    await mkdir(workspace.path('bin'));
    const post = `fetch('http://127.0.0.1:${person.port}', { method: 'POST', body: process.argv[1] })`;
    // Some programs ask the variable BROWSER, some the system.
    const browser = await workspace.write('bin/xdg-open', `#!/bin/sh\nexec '${process.execPath}' -e "${post}" "$1"\n`);
    await chmod(browser, 0o700);
    return new AgentHome(workspace, person);
  }

  private constructor(workspace: Workspace, person: Serving) {
    this.workspace = workspace;
    this.#person = person;
  }

  async close(): Promise<void> {
    await this.workspace.close();
    await this.#person.close();
  }
}

const browserOf = (workspace: Workspace) => ({
  PATH: `${workspace.path('bin')}:${process.env['PATH']}`,
  BROWSER: workspace.path('bin/xdg-open'),
});
