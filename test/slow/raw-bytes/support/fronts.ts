import { freePort } from '../../../harness/system/free-port.ts';
import { Workspace } from '../../../harness/system/workspace.ts';

/** A reverse proxy with its shortest configuration: it passes on all that it does not refuse by itself. */
interface Front {
  readonly program: string;
  /** Whether it speaks HTTP/2 without TLS to clients that begin with HTTP/2, at the same port or at a separate port. */
  readonly http2: 'at the same port' | 'at its own port' | undefined;
  /**
   * @param port where it listens
   * @param relay the port of the relay
   * @param folder for its files
   * @param isHttp2 whether the port is for HTTP/2
   */
  config(port: number, relay: number, folder: string, isHttp2: boolean): string;
  /** The arguments that run it in the foreground. */
  serve(config: string, port: number, folder: string): readonly string[];
}

const nginx: Front = {
  program: 'nginx',
  http2: 'at its own port',
  config: (port, relay, folder, isHttp2) => `
daemon off; pid ${folder}/pid; error_log stderr crit; worker_processes 1;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`).join(' ')}
  underscores_in_headers on; ignore_invalid_headers off;
  map $http_upgrade $hop { default upgrade; '' ''; }
  upstream relay { server 127.0.0.1:${relay}; keepalive 8; }
  server {
    listen 127.0.0.1:${port}${isHttp2 ? ' http2' : ''};
    location / {
      proxy_pass http://relay;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $hop;
      proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}
`,
  serve: (config) => ['-c', config],
};

const haproxy: Front = {
  program: 'haproxy',
  http2: 'at the same port',
  config: (port, relay) => `
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 20s
  timeout server 20s
frontend front
  bind 127.0.0.1:${port}
  option accept-invalid-http-request
  option forwardfor
  default_backend relay
backend relay
  option accept-invalid-http-response
  http-reuse always
  server relay 127.0.0.1:${relay}
`,
  serve: (config) => ['-db', '-f', config],
};

const caddy: Front = {
  program: 'caddy',
  http2: 'at the same port',
  config: (port, relay) => `
{
  admin off
  auto_https off
  servers {
    protocols h1 h2c
  }
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${relay}
}
`,
  serve: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
};

const apache: Front = {
  program: 'apache2',
  http2: 'at the same port',
  config: (port, relay, folder) => `
ServerRoot ${folder}
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
Mutex sem
ErrorLog ${folder}/error.log
LogLevel crit
ServerName localhost
User www-data
Group www-data
${['mpm_event', 'authz_core', 'http2', 'proxy', 'proxy_http', 'proxy_wstunnel']
  .map((one) => `LoadModule ${one}_module /usr/lib/apache2/modules/mod_${one}.so`)
  .join('\n')}
StartServers 1
ServerLimit 1
ThreadsPerChild 16
MaxRequestWorkers 16
Listen 127.0.0.1:${port}
Protocols h2c http/1.1
HttpProtocolOptions Unsafe LenientMethods Allow0.9
AllowEncodedSlashes NoDecode
ProxyPreserveHost On
ProxyPass / http://127.0.0.1:${relay}/ nocanon upgrade=websocket
`,
  serve: (config) => ['-DFOREGROUND', '-f', config],
};

const varnish: Front = {
  program: 'varnishd',
  http2: 'at the same port',
  config: (_port, relay) => `
vcl 4.1;
backend relay { .host = "127.0.0.1"; .port = "${relay}"; }
sub vcl_recv {
  if (req.http.Upgrade) { return (pipe); }
  return (pass);
}
sub vcl_pipe {
  set bereq.http.Upgrade = req.http.Upgrade;
  set bereq.http.Connection = req.http.Connection;
}
`,
  serve(config, port, folder) {
    const files = ['-F', '-j', 'none', '-n', folder, '-f', config, '-a', `127.0.0.1:${port}`, '-s', 'default,16m'];
    return [...files, '-p', 'thread_pool_min=5', '-p', 'thread_pools=1', '-p', 'feature=+http2'];
  },
};

const squid: Front = {
  program: 'squid',
  http2: undefined,
  config: (port, relay) => `
http_port 127.0.0.1:${port} accel vhost
cache_peer 127.0.0.1 parent ${relay} 0 no-query originserver login=PASSTHRU name=relay
http_access allow all
cache deny all
http_upgrade_request_protocols OTHER allow all
relaxed_header_parser on
access_log none
cache_log /dev/null
pid_filename none
coredump_dir none
pinger_enable off
shutdown_lifetime 0 seconds
netdb_filename none
cache_effective_user proxy
`,
  serve: (config, port) => ['-N', '-n', `front${port}`, '-f', config],
};

const h2o: Front = {
  program: 'h2o',
  http2: 'at the same port',
  config: (port, relay) => `
listen: { host: 127.0.0.1, port: ${port} }
num-threads: 1
user: root
proxy.preserve-host: ON
proxy.websocket: ON
hosts:
  default:
    paths:
      "/":
        proxy.reverse.url: "http://127.0.0.1:${relay}/"
`,
  serve: (config) => ['-m', 'worker', '-c', config],
};

/** All reverse proxies of Debian that people put in front of applications, each as lenient as its settings permit. */
export const fronts: Readonly<Record<string, Front>> = { nginx, haproxy, caddy, apache, varnish, squid, h2o };

/** A proxy that runs. */
export interface RunningFront {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a proxy in front of the relay at this port. */
export async function startFront(front: Front, relay: number, isHttp2 = false): Promise<RunningFront> {
  const workspace = await Workspace.create();
  const port = await freePort();
  const config = await workspace.write('config', front.config(port, relay, workspace.folder, isHttp2));
  await workspace.serve(front.program, front.serve(config, port, workspace.folder), { port, host: '127.0.0.1' });
  return { port, stop: () => workspace.close() };
}
