import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import * as second from '@modelcontextprotocol/client';
import type * as first from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import { freePort } from '../../../harness/system/free-port.ts';
import { redirectUri } from './document-host.ts';
import { onLogin, programOf } from './programs.ts';

/** A program that uses an MCP server. */
export interface McpClient {
  /** Calls the tool. @returns what it says */
  call(): Promise<string>;
  /** Calls the tool so many times at once. @returns how many calls it answers */
  callAtOnce(times: number): Promise<number>;
  close(): Promise<void>;
}

/** One that stays open. */
export interface Session extends McpClient {
  /** The names of the tools. */
  names(): Promise<readonly string[]>;
  /** Runs a tool. @returns what it says */
  run(name: string, given?: Readonly<Record<string, unknown>>, watch?: Watch): Promise<string>;
}

interface Watch {
  readonly onprogress?: (done: { readonly progress: number }) => void;
  readonly signal?: AbortSignal;
}

/** The options of a client. */
export interface Given {
  readonly rig: {
    /** Does what a person does whom a client asks to log in. */
    visit(start: URL): Promise<URL>;
    /** A PEM file with a certificate that clients have to trust. */
    readonly certificateFile?: string;
  };
  /** The address of the MCP server. */
  readonly url: string;
  /** The folder in which it keeps what it knows. */
  readonly home: string;
  /** The address of its metadata document, or undefined if it registers itself. */
  readonly document?: string | undefined;
}

const implementation = { name: 'test', version: '1' };

/** The part of an application that the SDKs need. It keeps everything in memory. */
class Application<Information, Tokens, Discovered> {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { redirect_uris: [redirectUri], client_name: 'Test' };
  readonly clientMetadataUrl?: string;
  asked: URL | undefined;
  #client: Information | undefined;
  #tokens: Tokens | undefined;
  #discovered: Discovered | undefined;
  #verifier = '';

  constructor(document: string | undefined) {
    if (document !== undefined) this.clientMetadataUrl = document;
  }

  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: Information) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: Tokens) {
    this.#tokens = tokens;
  }
  discoveryState() {
    return this.#discovered;
  }
  saveDiscoveryState(discovered: Discovered) {
    this.#discovered = discovered;
  }
  redirectToAuthorization(url: URL) {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
}

interface Calling {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  close(): Promise<void>;
}
type Call = { readonly name: string; readonly arguments: Record<string, unknown> };

/** @param call calls a tool with the client */
function sessionOf(
  client: Calling,
  callTool: (call: Call, watch: Watch & { readonly timeout: number }) => Promise<unknown>,
): Session {
  const run: Session['run'] = async (name, given = {}, watch = {}) => {
    const sent = { ...watch, timeout: 600_000 };
    const answer = JSON.stringify(await callTool({ name, arguments: { ...given } }, sent));
    return /"text":"([^"]*)"/.exec(answer)?.[1] ?? expect.fail(answer);
  };
  const call = () => run('whoami');
  return {
    run,
    call,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    callAtOnce: async (times) => (await Promise.all(Array.from({ length: times }, call))).length,
    close: () => client.close(),
  };
}

/** The common part of the versions of the SDK. */
interface Sdk<Over> {
  transport(): Over;
  connect(transport: Over): Promise<Session>;
  finish(transport: Over, back: URLSearchParams): Promise<void>;
}

/** Logs in as the documentation of the SDK says. */
async function logIn<Over>(
  rig: Given['rig'],
  application: { readonly asked: URL | undefined },
  { transport, connect, finish }: Sdk<Over>,
): Promise<Session> {
  const asking = transport();
  const refusal = await connect(asking).catch((error) => error);
  if (application.asked === undefined) throw refusal;
  await finish(asking, (await rig.visit(application.asked)).searchParams);
  return await connect(transport());
}

async function connectFirst(transport: Transport): Promise<Session> {
  const client = new Client(implementation);
  await client.connect(transport);
  return sessionOf(client, (call, watch) => client.callTool(call, undefined, watch));
}

/** An application with the official SDK, version 1. */
export async function openFirstSdk({ rig, url, document }: Given): Promise<Session> {
  type Discovered = first.OAuthDiscoveryState;
  const authProvider = new Application<OAuthClientInformationMixed, OAuthTokens, Discovered>(document);
  return await logIn(rig, authProvider, {
    transport: () => new StreamableHTTPClientTransport(new URL(url), { authProvider }),
    async connect(transport) {
      return await connectFirst(transport);
    },
    finish: (transport, back) => transport.finishAuth(back.get('code') ?? ''),
  });
}

/** The same with version 2. */
export const openSecondSdk = (given: Given): Promise<Session> => openSecond(given, 'legacy');

/** The same, which speaks the protocol of 2026-07-28. */
export const openModernSdk = (given: Given): Promise<Session> => openSecond(given, { pin: '2026-07-28' });

async function openSecond({ rig, url, document }: Given, mode: second.VersionNegotiationMode): Promise<Session> {
  const authProvider = new Application<
    second.StoredOAuthClientInformation,
    second.StoredOAuthTokens,
    second.OAuthDiscoveryState
  >(document);
  return await logIn(rig, authProvider, {
    transport: () => new second.StreamableHTTPClientTransport(new URL(url), { authProvider }),
    async connect(transport) {
      const client = new second.Client(implementation, { versionNegotiation: { mode } });
      await client.connect(transport);
      return sessionOf(client, (call, watch) => client.callTool(call, watch));
    },
    finish: (transport, back) => transport.finishAuth(back),
  });
}

const environmentOf = ({ rig, home }: Given) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  ...(rig.certificateFile && { NODE_EXTRA_CA_CERTS: rig.certificateFile }),
  // The browser, which opens nothing.
  BROWSER: 'true',
});

/** mcp-remote, which keeps its registration and its tokens in files. */
export async function openMcpRemote(given: Given): Promise<Session> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programOf('mcp-remote/dist/proxy.js'), given.url],
    env: { ...environmentOf(given), MCP_REMOTE_CONFIG_DIR: given.home },
    stderr: 'pipe',
  });
  onLogin(transport.stderr as Readable, (start) => given.rig.visit(start));
  const calls = await connectFirst(transport);
  return {
    ...calls,
    async callAtOnce(times) {
      // It writes the tokens of two refreshes in the same millisecond to one temporary file, and loses both. So the first
      // call is alone.
      await calls.call();
      return 1 + (await calls.callAtOnce(times - 1));
    },
  };
}

/** The Inspector without a browser. Each call is a program that ends, and it keeps its tokens in files. */
export async function openInspector(given: Given): Promise<McpClient> {
  const callbackUrl = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  async function run(...words: readonly string[]): Promise<string> {
    const inspector: ChildProcessWithoutNullStreams = spawn(
      process.execPath,
      [
        programOf('@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
        '--cli',
        given.url,
        '--callback-url',
        callbackUrl,
        '--format',
        'json',
        '--method',
        'tools/call',
        '--tool-name',
        'whoami',
        ...words,
      ],
      {
        env: {
          ...environmentOf(given),
          MCP_AUTO_OPEN_ENABLED: 'true',
          MCP_INSPECTOR_SECRET_STORE: 'file',
        },
      },
    );
    onLogin(inspector.stderr, (start) => given.rig.visit(start));
    return await text(inspector.stdout);
  }
  return {
    async call() {
      const answer = await run();
      return /"text":"([^"]*)"/.exec(answer)?.[1] ?? expect.fail(answer);
    },
    async callAtOnce(times) {
      const load = ['--load', '--load-requests', `${times}`, '--load-concurrency', `${times}`];
      return JSON.parse(await run(...load)).result.ok;
    },
    async close() {},
  };
}
