import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimeOptions } from '../scripts/binary/runtime-options.ts';
import { doorUrl, registration, resourceSecret } from './registration.ts';
import type { WorkloadName } from './workloads.ts';

/** A program with all or a part of the relay's work. */
export interface Contender {
  readonly name: string;
  readonly workloads: readonly WorkloadName[];
  /** Whether it protects logins with state, cookie and PKCE. */
  readonly protection: boolean;
  /** Whether its front end gets no token. */
  readonly sessions: boolean;
  /** Whether it gives a token for its resource without a login. */
  readonly grantsTokens: boolean;
  /** The credential that opens its resource. */
  readonly opensBy: 'token' | 'cookie';
  /** A path that it needs to run. */
  readonly needs: string;
  /** The command that starts it. */
  command(providerPort: number): readonly string[];
}

const all = ['start-login', 'complete-login', 'user-lookup'] as const;
const ofRelay = [...all, 'oauth-login'] as const;
const byNumber = ['named-start', 'user-lookup'] as const;
const gateway = ['gateway', 'gateway-1kB', 'gateway-1MiB'] as const;
const doors = ['resource-check', ...gateway] as const;
/** The requests of browsers at a door. */
const pages = ['resource-check', 'gateway-1kB', 'gateway-1MiB'] as const;
const ofResources = [...doors, 'introspection'] as const;
const logins = ['start-login', 'complete-login'] as const;
const source = path('../bin/login-relay.ts');
const executable = path('../dist/login-relay');
const node = process.execPath;
const apache = '/usr/sbin/apache2';
const nginx = '/usr/sbin/nginx';
const fromSource = [node, ...runtimeOptions, source];
/** A checkout of an earlier version, with its libraries installed. */
const before = process.env['BEFORE'];
const sessions = { 'token-delivery': 'session' };
const checking = { 'state-check': 'always' };
const refreshing = { ...checking, 'refresh-tokens': 'bearer' };
const byCookie = { workloads: ['user-lookup'], sessions: true } as const;

/** All measured programs, in the order of the report. */
export const contenders: readonly Contender[] = [
  relay('relay', source, fromSource, checking),
  relay('relay, with metrics', source, fromSource, { ...checking, 'metrics-port': '0' }),
  relay('relay, unprotected', source, fromSource, { 'state-check': 'off' }),
  { ...relay('relay, by cookie', source, fromSource, sessions), ...byCookie },
  { ...relay('relay, refreshing', source, fromSource, refreshing), workloads: ['refresh'] },
  relay('relay binary', executable, [executable], checking),
  relayOf('relay of a file, 1 front end', 1, 1),
  relayOf('relay of a file, 100 providers, 1,000 front ends', 100, 1000),
  { ...relayOf('relay, with a resource', 1, 1, 'token'), workloads: ofResources },
  { ...relayOf('relay, with a resource, by cookie', 1, 1, 'cookie'), workloads: pages, opensBy: 'cookie' },
  ...(before === undefined ? [] : [earlier(before)]),
  peer('grant on Koa', 'grant-koa.js'),
  peer('@fastify/oauth2, kept connections', 'fastify-oauth2.js'),
  door('@fastify/http-proxy and jose', gateway, 'peers/fastify-http-proxy.js'),
  door('http-proxy-3 and jose', doors, 'peers/http-proxy-3.js'),
  {
    ...door('express-openid-connect, by cookie', ['resource-check'], 'peers/express-openid-connect.js'),
    opensBy: 'cookie',
  },
  { ...door('Apache with mod_auth_openidc', doors, 'peers/apache.js'), needs: apache },
  { ...door('Apache with mod_auth_openidc, by cookie', pages, 'peers/apache.js'), needs: apache, opensBy: 'cookie' },
  { ...nginxBeforeRelay(), workloads: gateway, needs: nginx },
  { ...door('nginx, without a door', gateway, 'peers/nginx.js'), needs: nginx },
  { ...door('node:http', doors, 'bare-door.ts'), needs: node },
  program('Koa, its router, CORS and got', all, true, node, [node, path('plain-koa.js')]),
  program('node:http', all, true, node, [node, path('bare-http.ts')]),
];

function path(relative: string): string {
  return join(import.meta.dirname, relative);
}

function program(
  name: string,
  workloads: readonly WorkloadName[],
  protection: boolean,
  needs: string,
  command: readonly string[],
): Contender {
  return {
    name,
    workloads,
    protection,
    sessions: false,
    grantsTokens: false,
    opensBy: 'token',
    needs,
    command: () => command,
  };
}

function peer(name: string, file: string): Contender {
  return program(name, logins, true, path('peers/node_modules'), [node, path(`peers/${file}`)]);
}

/** A program that asks for a token before it passes a request on, or answers a check. */
function door(name: string, workloads: readonly WorkloadName[], file: string): Contender {
  const command = [node, path(file)];
  return { ...program(name, workloads, true, path('peers/node_modules'), command), grantsTokens: true };
}

/** nginx in front of a relay: it asks the relay whether a token opens the resource, and passes the request on itself. */
function nginxBeforeRelay(): Contender {
  const behind = relayOf('nginx, which asks the relay', 1, 1, 'token');
  return { ...behind, command: (providerPort) => [node, path('peers/nginx.js'), ...behind.command(providerPort)] };
}

function relay(
  name: string,
  needs: string,
  start: readonly string[],
  more: Readonly<Record<string, string>>,
): Contender {
  const protection = more['state-check'] !== 'off';
  return {
    ...program(name, protection ? ofRelay : all, protection, needs, []),
    command(providerPort) {
      const provider = `http://127.0.0.1:${providerPort}`;
      const flags = {
        port: '0',
        origin: registration.frontEnd,
        'base-url': registration.baseUrl,
        'client-id': registration.clientId,
        'authorize-url': `${provider}/authorize`,
        'token-url': `${provider}/token`,
        'user-url': `${provider}/user`,
        ...more,
      };
      return [...start, ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value])];
    },
  };
}

/** An earlier version, from source. */
function earlier(checkout: string): Contender {
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const path = join(checkout, 'bin/login-relay.ts');
  const start = [node, ...runtimeOptions, path];
  return { ...relay(`relay ${version}`, path, start, checking), workloads: all };
}

/**
 * A relay from source with that many providers and front ends.
 *
 * @param opensBy what opens the resource that the measured front end logs in for; without it, there is no resource
 */
function relayOf(name: string, providers: number, frontEnds: number, opensBy?: Contender['opensBy']): Contender {
  return {
    ...program(name, byNumber, true, source, []),
    command(providerPort) {
      const provider = `http://127.0.0.1:${providerPort}`;
      const file = configFile(provider, providers, frontEnds, opensBy);
      // The file has the secret. If a variable had it too, that would be a fault.
      const alone = ['env', '--unset=PROVIDER_CLIENT_SECRET'];
      return [...alone, node, ...runtimeOptions, source, '--port', '0', '--config', file];
    },
  };
}

/**
 * Writes a configuration file with that many providers and front ends. The measured front end is the last in the file,
 * so that a search from the beginning finds it late. The end of the benchmark removes the file.
 *
 * @param provider the address of the provider, which all registrations share
 */
function configFile(
  provider: string,
  providers: number,
  frontEnds: number,
  opensBy: Contender['opensBy'] | undefined,
): string {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true }));
  const secret = join(directory, 'secret');
  writeFileSync(secret, resourceSecret, { mode: 0o600 });
  const byToken = { url: `${registration.baseUrl}/mcp`, upstream: `${provider}/mcp`, 'secret-file': secret };
  const notes = opensBy === 'cookie' ? { url: doorUrl, upstream: provider, browser: true } : byToken;
  const file = join(directory, 'config.yaml');
  const one = {
    'client-id': registration.clientId,
    'client-secret': registration.clientSecret,
    'authorize-url': `${provider}/authorize`,
    'token-url': `${provider}/token`,
    'user-url': `${provider}/user`,
    'state-check': 'always',
  };
  const content = {
    'base-url': registration.baseUrl,
    // The load is a reverse proxy, too.
    ...(opensBy === 'cookie' && { 'trusted-proxies': ['127.0.0.1'] }),
    // The relay creates it.
    'key-file': './key',
    providers: { provider: one, ...entries(providers - 1, () => one) },
    ...(opensBy !== undefined && { resources: { notes } }),
    'front-ends': {
      ...entries(frontEnds - 1, (name) => ({ origin: `https://${name}.example.com` })),
      // Otherwise, lookups would have to name a provider.
      app: {
        origin: registration.frontEnd,
        providers: ['provider'],
        ...(opensBy === 'token' && { 'token-delivery': 'code', resources: ['notes'] }),
      },
    },
  };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  return file;
}

function entries(count: number, entryOf: (name: string) => object): Record<string, object> {
  const names = Array.from({ length: count }, (_, index) => `entry-${index + 1}`);
  return Object.fromEntries(names.map((name) => [name, entryOf(name)]));
}
