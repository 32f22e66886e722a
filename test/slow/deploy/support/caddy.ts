import type { BalancerKind } from './balancer.ts';

/** Caddy, as `deploy/caddy` runs it. */
export const caddy: BalancerKind = {
  program: 'caddy',
  file: 'deploy/caddy/Caddyfile',
  replacements: ({ port, pem, relayPorts }) => [
    ['login.example.com {', `https://:${port} {\n\tbind 127.0.0.1\n\ttls ${pem} ${pem}`],
    ['\n{\n', '\n{\n\tadmin off\n'],
    [/to( 10[.\d]+:8000)+/g, `to ${relayPorts.map((relay) => `127.0.0.1:${relay}`).join(' ')}`],
  ],
  check: (config) => ['validate', '--adapter', 'caddyfile', '--config', config],
  serve: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  logs: () => [],
  sockets: () => [],
};
