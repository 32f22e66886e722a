import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:net';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { ClientsRelay } from '../../../clients/support/clients-relay.ts';
import { json } from '../../../harness/provider/provider-behaviours.ts';
import { type Serving, serve, serveTcp } from '../../../harness/provider/serve.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { Workspace } from '../../../harness/system/workspace.ts';
import { pemOf } from '../../../resources/support/machines-relay.ts';
import { ada } from '../../../resources/support/resources-relay.ts';
import { passToHandler } from './fetch-handler.ts';
import { programOf } from './programs.ts';

export const machineSecret = 'the secret of a machine, of 32 characters';
export const machineKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });

type ServerName = 'everything' | 'modern';

interface GatewaySettings {
  readonly clients?: string;
  readonly servers?: readonly ServerName[];
}

/** A relay in front of two MCP servers without logins: a published server, and a server of the protocol 2026-07-28. */
export class GatewayRig {
  readonly relay: ClientsRelay;
  /** The addresses at which programs have asked the person to log in. */
  readonly logins: URL[] = [];
  /** How many calls of the second server were cancelled. */
  cancelled = 0;
  /** When the servers have sent each step of the last progress, on the clock of `performance`. */
  readonly sent: number[] = [];
  readonly #workspace: Workspace;
  readonly #modern: Serving;
  readonly #watching: Serving[] = [];

  /**
   * @param clients the setting that lets unregistered clients in
   * @param servers the servers that are resources at the relay's host
   */
  static async start({
    clients = 'documents: any, registration: true',
    servers = ['everything', 'modern'],
  }: GatewaySettings = {}): Promise<GatewayRig> {
    const relay = await ClientsRelay.listen();
    const workspace = await Workspace.create();
    const port = await freePort();
    const program = programOf('@modelcontextprotocol/server-everything/dist/index.js');
    const place = { host: '127.0.0.1', port };
    const words = [program, 'streamableHttp'];
    await workspace.serve(process.execPath, words, place, { PORT: `${port}` });
    const modern = await serveModern(() => {
      rig.cancelled += 1;
    });
    const rig = new GatewayRig(relay, workspace, modern);
    const ports = { everything: await rig.#watched(port), modern: await rig.#watched(modern.port) };
    const resourceOf = (name: ServerName) =>
      `  ${name}: { url: '${rig.urls[name]}', upstream: 'http://127.0.0.1:${ports[name]}/mcp' }`;
    await relay.restart({
      here: true,
      relay: `resources:\n${servers.map(resourceOf).join('\n')}\n`,
      frontEnds: `  tools:
    kind: native
    refresh-tokens: bearer
    clients: { ${clients} }
    resources: [${servers}]
  ci: { kind: machine, secret-file: ./ci, resources: [${servers}] }
  robot: { kind: machine, public-key-file: ./robot, resources: [${servers}] }
`,
      files: { './ci': machineSecret, './robot': pemOf(machineKey.publicKey) },
    });
    return rig;
  }

  private constructor(relay: ClientsRelay, workspace: Workspace, modern: Serving) {
    this.relay = relay;
    this.#workspace = workspace;
    this.#modern = modern;
  }

  /** A port that leads to this port, and shows when events pass. */
  async #watched(port: number): Promise<number> {
    const watching = await serveTcp((socket) => {
      const server = connect(port, '127.0.0.1');
      server.on('error', () => socket.destroy());
      socket.on('close', () => server.destroy());
      server.on('data', (chunk) => {
        for (const [, step] of `${chunk}`.matchAll(/"progress":(\d+)/g)) {
          this.sent[Number(step) - 1] = performance.now();
        }
      });
      socket.pipe(server).pipe(socket);
    });
    this.#watching.push(watching);
    return watching.port;
  }

  /** All that clients are told. */
  get urls() {
    // The address of the relay is not known before it starts.
    const address = `http://127.0.0.1:${this.relay.port}`;
    return { everything: `${address}/mcp`, modern: `${address}/modern` };
  }

  forget(): void {
    const { provider } = this.relay;
    provider.forget();
    provider.knows(json(ada));
    this.relay.ahead = 0;
    this.cancelled = 0;
    this.logins.length = 0;
  }

  async visit(start: URL): Promise<URL> {
    this.logins.push(start);
    return await this.relay.visit(start.href);
  }

  async stop(): Promise<void> {
    await this.relay.stop();
    for (const one of [this.#modern, ...this.#watching]) await one.close();
    await this.#workspace.close();
  }
}

/** Serves two tools with the same names as tools of the published server. */
async function serveModern(onCancel: () => void): Promise<Serving> {
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'modern', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({
        tools: ['echo', 'trigger-long-running-operation'].map((name) => ({
          name,
          inputSchema: { type: 'object' },
        })),
      }));
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        const { message, duration, steps } = params.arguments ?? {};
        if (params.name === 'echo') return textOf(`Echo: ${message}`);
        for (let progress = 1; progress <= Number(steps); progress += 1) {
          await new Promise((done) => setTimeout(done, (Number(duration) * 1000) / Number(steps)));
          if (mcpReq.signal.aborted) {
            onCancel();
            break;
          }
          const progressToken = mcpReq._meta?.progressToken ?? '';
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progress, progressToken },
          });
        }
        return textOf('done');
      });
      return server;
    },
    { legacy: 'reject' },
  );
  return await serve((request, response) => passToHandler(handler.fetch, request, response));
}

const textOf = (text: string) => ({ content: [{ type: 'text' as const, text }] });
