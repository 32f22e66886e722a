import type { BalancerKind } from './balancer.ts';

/** HAProxy, as `deploy/haproxy` runs it. */
export const haproxy: BalancerKind = {
  program: 'haproxy',
  file: 'deploy/haproxy/haproxy.cfg',
  replacements: ({ port, pem, relayPorts, directory }) => [
    ['bind :443 ', `bind 127.0.0.1:${port} `],
    ['/etc/haproxy/login-relay.pem', pem],
    ['/run/haproxy/admin.sock', `${directory}/admin.sock`],
    ['maxconn 20000', 'maxconn 200'],
    // Only root may change its root and its user.
    [/^ {2}(chroot|user|group) .*\n/gm, ''],
    [
      /^( {2}server relay\d .*\n)+/gm,
      relayPorts.map((relay, index) => `  server relay${index + 1} 127.0.0.1:${relay}\n`).join(''),
    ],
  ],
  check: (config) => ['-c', '-f', config],
  serve: (config) => ['-db', '-f', config],
  logs: () => [],
};
