import type { Workspace } from './workspace.ts';

/** Starts nginx with one server and a minimal nginx.conf. */
export async function serveWithNginx(
  workspace: Workspace,
  { port, user, server }: { port: number; user: string | undefined; server: string },
): Promise<void> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${workspace.path(name)};`)
    .join('\n');
  const file = await workspace.write(
    'nginx.conf',
    `${user === undefined ? '' : `user ${user};`}
daemon off;
pid ${workspace.path('nginx.pid')};
error_log stderr warn;
events {}
http {
${temporary}
access_log off;
include /etc/nginx/mime.types;
server {
${server}
}
}
`,
  );
  await workspace.serve('nginx', ['-c', file], { port, host: '127.0.0.1' });
}
