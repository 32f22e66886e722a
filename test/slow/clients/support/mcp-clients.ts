import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import * as second from '@modelcontextprotocol/client';
import type * as first from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { expect } from 'chai';
import { freePort } from '../../../harness/system/free-port.ts';
import { redirectUri } from './document-host.ts';
import { onLogin, programOf } from './programs.ts';
import type { ResourcesRig } from './resources-rig.ts';

/** A program that uses an MCP server. */
export interface McpClient {
  /** Calls the tool. @returns what it says */
  call(): Promise<string>;
  /** Calls the tool so many times at once. @returns how many calls it answers */
  callAtOnce(times: number): Promise<number>;
  close(): Promise<void>;
}

/** What a client is given. */
export interface Given {
  readonly rig: ResourcesRig;
  /** The address of the MCP server. */
  readonly url: string;
  /** The folder in which it keeps what it knows. */
  readonly home: string;
  /** The address of its metadata document. Undefined: it registers itself. */
  readonly document?: string | undefined;
}

const implementation = { name: 'test', version: '1' };

/** What the SDKs ask of an application. It keeps everything in memory. */
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

/** Calls a tool with any client of an SDK. */
interface Calling {
  callTool(call: { name: string }): Promise<unknown>;
  close(): Promise<void>;
}

function callsOf(client: Calling): McpClient {
  const call = async () => {
    const answer = JSON.stringify(await client.callTool({ name: 'whoami' }));
    return /"text":"([^"]*)"/.exec(answer)?.[1] ?? expect.fail(answer);
  };
  return {
    call,
    callAtOnce: async (times) => (await Promise.all(Array.from({ length: times }, call))).length,
    close: () => client.close(),
  };
}

/** What the versions of the SDK share. */
interface Sdk<Transport> {
  transport(): Transport;
  connect(transport: Transport): Promise<Calling>;
  finish(transport: Transport, back: URLSearchParams): Promise<void>;
}

/** Logs in as the documentation of the SDK says. */
async function logIn<Transport>(
  rig: ResourcesRig,
  application: { readonly asked: URL | undefined },
  { transport, connect, finish }: Sdk<Transport>,
): Promise<McpClient> {
  const asking = transport();
  const refusal = await connect(asking).catch((error) => error);
  if (application.asked === undefined) throw refusal;
  await finish(asking, (await rig.visit(application.asked)).searchParams);
  return callsOf(await connect(transport()));
}

/** An application with the official SDK, version 1. */
export async function openFirstSdk({ rig, url, document }: Given): Promise<McpClient> {
  type Discovered = first.OAuthDiscoveryState;
  const authProvider = new Application<OAuthClientInformationMixed, OAuthTokens, Discovered>(
    document,
  );
  return await logIn(rig, authProvider, {
    transport: () => new StreamableHTTPClientTransport(new URL(url), { authProvider }),
    async connect(transport) {
      const client = new Client(implementation);
      await client.connect(transport);
      return client;
    },
    finish: (transport, back) => transport.finishAuth(back.get('code') ?? ''),
  });
}

/** The same with version 2. */
export async function openSecondSdk({ rig, url, document }: Given): Promise<McpClient> {
  const authProvider = new Application<
    second.StoredOAuthClientInformation,
    second.StoredOAuthTokens,
    second.OAuthDiscoveryState
  >(document);
  return await logIn(rig, authProvider, {
    transport: () => new second.StreamableHTTPClientTransport(new URL(url), { authProvider }),
    async connect(transport) {
      const client = new second.Client(implementation);
      await client.connect(transport);
      return client;
    },
    finish: (transport, back) => transport.finishAuth(back),
  });
}

const environmentOf = ({ rig, home }: Given) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  NODE_EXTRA_CA_CERTS: rig.certificateFile,
  // The browser: it opens nothing.
  BROWSER: 'true',
});

/** mcp-remote, which keeps its registration and its tokens in files. */
export async function openMcpRemote(given: Given): Promise<McpClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programOf('mcp-remote/dist/proxy.js'), given.url],
    env: { ...environmentOf(given), MCP_REMOTE_CONFIG_DIR: given.home },
    stderr: 'pipe',
  });
  onLogin(transport.stderr as Readable, (start) => given.rig.visit(start));
  const client = new Client(implementation);
  await client.connect(transport);
  const calls = callsOf(client);
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

/** The Inspector without a browser: each call is a program that ends, and it keeps its tokens in files. */
export async function openInspector(given: Given): Promise<McpClient> {
  const callbackUrl = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  async function run(...words: readonly string[]): Promise<string> {
    const inspector: ChildProcessWithoutNullStreams = spawn(
      process.execPath,
      [
        programOf('@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
        ...['--cli', given.url, '--callback-url', callbackUrl, '--format', 'json'],
        ...['--method', 'tools/call', '--tool-name', 'whoami', ...words],
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
