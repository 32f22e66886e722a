import type { BalancerKind } from './balancer.ts';

/** nginx with the file of `deploy/nginx` included. */
export const nginx: BalancerKind = {
  program: 'nginx',
  file: 'deploy/nginx/login-relay.conf',
  replacements: ({ port, pem, relayPorts, directory }) => [
    ['listen 443 ', `listen 127.0.0.1:${port} `],
    ['/etc/nginx/login-relay.pem', pem],
    ['/var/log/nginx/login-relay.log', `${directory}/access.log`],
    [
      /(?:^ {2}server [\d.]+:8000( .*)\n)+/gm,
      relayPorts.map((relay) => `  server 127.0.0.1:${relay}$1\n`).join(''),
    ],
    // The parts of nginx.conf that surround it.
    [
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
    ],
  ],
  check: (config) => ['-t', '-q', '-c', config],
  serve: (config) => ['-c', config],
  logs: ({ directory }) => [`${directory}/access.log`],
  sockets: () => [],
};
