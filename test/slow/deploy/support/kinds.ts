import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { projectRoot } from '../../../harness/project/run.ts';
import { eventually } from '../../../harness/system/eventually.ts';
import type { Balancer, BalancerKind, Replacement, Site } from './balancer.ts';

/** Runs HAProxy as this user, because only root may change its root and its user. */
const asThisUser: Replacement = [/^ {2}(chroot|user|group) .*\n/gm, ''];

/** The parts of nginx.conf that surround an included file. */
function inNginxConf(directory: string): Replacement {
  return [
    /^.*$/gs,
    [
      `daemon off; pid ${directory}/pid; error_log stderr info; worker_processes 2;`,
      'events {}',
      'http {',
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `  ${name}_temp_path ${directory}/${name};`,
      ),
      '$&',
      '}',
    ].join('\n'),
  ];
}

/** HAProxy, as `deploy/haproxy` runs it. */
export const haproxy: BalancerKind = {
  program: 'haproxy',
  file: 'deploy/haproxy/haproxy.cfg',
  replacements: ({ port, pem, relayPorts, directory }) => [
    ['bind :443 ', `bind 127.0.0.1:${port} `],
    ['/etc/haproxy/login-relay.pem', pem],
    ['/run/haproxy/admin.sock', `${directory}/admin.sock`],
    ['maxconn 20000', 'maxconn 200'],
    ['check inter 500ms', 'check inter 100ms'],
    asThisUser,
    [
      /^( {2}server relay\d .*\n)+/gm,
      relayPorts.map((relay, index) => `  server relay${index + 1} 127.0.0.1:${relay}\n`).join(''),
    ],
  ],
  check: (config) => ['-c', '-f', config],
  serve: (config) => ['-db', '-f', config],
  logs: () => [],
};

/** nginx with the file of `deploy/nginx` included. */
const nginx: BalancerKind = {
  program: 'nginx',
  file: 'deploy/nginx/login-relay.conf',
  replacements: ({ port, pem, relayPorts, directory }) => [
    ['listen 443 ', `listen 127.0.0.1:${port} `],
    ['/etc/nginx/login-relay.pem', pem],
    ['/var/log/nginx/login-relay.log', `${directory}/access.log`],
    [/(?:^ {2}server [\d.]+:8000( .*)\n)+/gm, relayPorts.map((relay) => `  server 127.0.0.1:${relay}$1\n`).join('')],
    inNginxConf(directory),
  ],
  check: (config) => ['-t', '-q', '-c', config],
  serve: (config) => ['-c', config],
  logs: ({ directory }) => [`${directory}/access.log`],
};

/** Caddy, as `deploy/caddy` runs it. */
const caddy: BalancerKind = {
  program: 'caddy',
  file: 'deploy/caddy/Caddyfile',
  replacements: (site) => [
    servesAnyName('login.example.com', site),
    withoutAdmin,
    [/to( 10[.\d]+:8000)+/g, `to ${site.relayPorts.map((relay) => `127.0.0.1:${relay}`).join(' ')}`],
  ],
  check: (config) => ['validate', '--adapter', 'caddyfile', '--config', config],
  serve: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  logs: () => [],
};

/** Caddy serves this host at any name. */
function servesAnyName(host: string, { port, pem }: Site): Replacement {
  return [`${host} {`, `https://:${port} {\n\tbind 127.0.0.1\n\ttls ${pem} ${pem}`];
}
const withoutAdmin: Replacement = ['\n{\n', '\n{\n\tadmin off\n'];

/** Every balancer that `deploy` has a configuration for. */
export const kinds: Readonly<Record<string, BalancerKind>> = { haproxy, nginx, caddy };

/** The edits of each file for relays that are also in front of an MCP server, and shorter limits. */
const streaming: Readonly<Record<string, readonly Replacement[]>> = {
  haproxy: [
    ['# http-request set-timeout', 'http-request set-timeout'],
    [/(timeout (?:client|server) )30s/g, '$12s'],
  ],
  nginx: [
    [/^ {2}# {1,3}(?=location|client_max|limit_|proxy_|})/gm, '  '],
    ['/api/github/', '/mcp'],
    [/(proxy_read_timeout|send_timeout) 30s/g, '$1 2s'],
  ],
  caddy: [
    [/^\t# (?=@|reverse_proxy|\t|})/gm, '\t'],
    ['write 60s', ''],
    ['response_header_timeout 30s', 'response_header_timeout 2s'],
  ],
};

/** The same kinds, whose files are changed further. */
function withReplacements(
  of: Readonly<Record<string, BalancerKind>>,
  changes: Readonly<Record<string, readonly Replacement[]>>,
): Readonly<Record<string, BalancerKind>> {
  return Object.fromEntries(
    Object.entries(of).map(([name, kind]) => [
      name,
      { ...kind, replacements: (site: Site) => [...(changes[name] ?? []), ...kind.replacements(site)] },
    ]),
  );
}

export const streamingKinds = withReplacements(kinds, streaming);

/** The proxies of `deploy` that ask a relay before they pass a request on to an application at this port. */
export function guards(applicationPort: () => number): Readonly<Record<string, BalancerKind>> {
  const addresses = ({ relayPorts: [relay] }: Site): readonly Replacement[] => [
    [/127\.0\.0\.1([: ])8000/g, `127.0.0.1$1${relay}`],
    ['127.0.0.1:9000', `127.0.0.1:${applicationPort()}`],
  ];
  return {
    haproxy: {
      ...haproxy,
      file: 'deploy/haproxy/resource.cfg',
      replacements: (site) => [
        ...addresses(site),
        ['bind :443 ', `bind 127.0.0.1:${site.port} `],
        ['/etc/haproxy/notes.pem', site.pem],
        ['/etc/haproxy/resource.lua', join(projectRoot, 'deploy/haproxy/resource.lua')],
        ['maxconn 20000', 'maxconn 200'],
        asThisUser,
      ],
    },
    nginx: {
      ...nginx,
      file: 'deploy/nginx/resource.conf',
      replacements: (site) => [
        ...addresses(site),
        ['listen 443 ', `listen 127.0.0.1:${site.port} `],
        ['/etc/nginx/notes.pem', site.pem],
        ['/var/log/nginx/notes.log', `${site.directory}/access.log`],
        inNginxConf(site.directory),
      ],
    },
    caddy: {
      ...caddy,
      file: 'deploy/caddy/resource.Caddyfile',
      replacements: (site) => [...addresses(site), servesAnyName('notes.example.com', site), withoutAdmin],
    },
  };
}

/** The mistake of each proxy that does not send the paths below `/.login-relay/` to the relay, but asks about them. */
export const checkingRelayPaths = {
  nginx: [['(login-relay|well-known/oauth-protected-resource)', 'well-known/oauth-protected-resource']],
  caddy: [[' /.login-relay/*', '']],
  haproxy: [['/.well-known/oauth-protected-resource /.login-relay/', '/.well-known/oauth-protected-resource']],
} as const satisfies Readonly<Record<string, readonly Replacement[]>>;

/** The proxies of `deploy` that ask a relay about requests of browsers, too. */
export function browserGuards(applicationPort: () => number): Readonly<Record<string, BalancerKind>> {
  const of = guards(applicationPort);
  const forBrowsers = (kind: BalancerKind | undefined, file: string): BalancerKind => {
    if (kind === undefined) throw new Error('no such proxy');
    const renamed = ([from, to]: Replacement): Replacement => [
      typeof from === 'string' ? from.replace('notes', 'wiki').replace('resource.lua', 'browsers.lua') : from,
      to.replace('resource.lua', 'browsers.lua'),
    ];
    return { ...kind, file, replacements: (site) => kind.replacements(site).map(renamed) };
  };
  return {
    nginx: forBrowsers(of['nginx'], 'deploy/nginx/browsers.conf'),
    caddy: forBrowsers(of['caddy'], 'deploy/caddy/browsers.Caddyfile'),
    haproxy: forBrowsers(of['haproxy'], 'deploy/haproxy/browsers.cfg'),
  };
}

/** How long each of these proxies waits for an upload: seconds in place of minutes. */
const impatience: Readonly<Record<string, readonly Replacement[]>> = {
  haproxy: [
    ['wait-for-body time 60s', 'wait-for-body time 2s'],
    ['set-timeout server 2m', 'set-timeout server 3s'],
  ],
  nginx: [['client_body_timeout 60s', 'client_body_timeout 2s']],
  caddy: [['read_body 2m', 'read_body 3s']],
};

/** The same as `guards`, with less patience for uploads. */
export const impatientGuards = (applicationPort: () => number) => withReplacements(guards(applicationPort), impatience);

/** Takes the relay out of rotation, as an operator does, and waits for its requests to end. */
export async function drain(balancer: Balancer, relay: string): Promise<void> {
  await takeOut(balancer, relay);
  while ((await stateOf(balancer, relay))['scur'] !== '0') await delay(5);
}

/** Takes the relay out of rotation. */
export async function takeOut(balancer: Balancer, relay: string): Promise<void> {
  await administer(balancer, `set server login_relay/${relay} state drain`);
}

/** Puts the relay back into rotation, and waits until it gets requests. */
export async function undrain(balancer: Balancer, relay: string): Promise<void> {
  await administer(balancer, `set server login_relay/${relay} state ready`);
  while ((await stateOf(balancer, relay))['status'] !== 'UP') await delay(5);
}

/** Sends a command to HAProxy's administration socket. */
async function administer({ directory }: Balancer, command: string): Promise<string> {
  // HAProxy may open it after its port.
  return await eventually(async () => {
    const socket = connect(`${directory}/admin.sock`);
    socket.end(`${command}\n`);
    return await text(socket);
  });
}

async function stateOf(balancer: Balancer, relay: string): Promise<Record<string, string>> {
  const [head = '', ...lines] = (await administer(balancer, 'show stat')).split('\n');
  const line = lines.find((candidate) => candidate.startsWith(`login_relay,${relay},`)) ?? '';
  const values = line.split(',');
  return Object.fromEntries(
    head
      .slice('# '.length)
      .split(',')
      .map((name, index) => [name, values[index] ?? '']),
  );
}
