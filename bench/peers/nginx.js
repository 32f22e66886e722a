// nginx in front of the server of a resource. With the command of a relay as its arguments, it asks the relay whether a
// token opens the resource, as deploy/nginx/resource.conf does; without, it passes every request on.
import { join } from 'node:path';
import { origin } from '../registration.ts';
import { freePort, ownDirectory, serveBy, startChild } from './child-server.js';

const [command, ...args] = process.argv.slice(2);
const directory = ownDirectory();
const file = join(directory, 'nginx.conf');
const port = await freePort();
const relay = command === undefined ? undefined : await startRelay();

async function startRelay() {
  const child = startChild(command, args, 'pipe');
  let output = '';
  for await (const text of child.stdout.setEncoding('latin1').iterator({ destroyOnReturn: false })) {
    output += text;
    const [, address] = /"address":"http:\/\/([\d.:]+)"/.exec(output) ?? [];
    if (address === undefined) continue;
    child.stdout.resume();
    return address;
  }
}

const door = `
    location /auth/ { proxy_pass http://relay; }
    location = /check {
      internal;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_pass http://relay/auth/check/notes;
    }
    location / {
      auth_request /check;
      auth_request_set $person $upstream_http_x_forwarded_user;
      proxy_set_header X-Forwarded-User $person;
      proxy_set_header Authorization "";
      proxy_set_header Connection "";
      proxy_pass http://application;
    }`;
const open = `
    location = /own-token { return 200 none; }
    location / { proxy_pass http://application; }`;

await serveBy(
  '/usr/sbin/nginx',
  ['-p', directory, '-c', file, '-e', 'stderr'],
  port,
  file,
  `
daemon off;
worker_processes 1;
pid ${directory}/pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  keepalive_requests 1000000;
  upstream application { server ${new URL(origin).host}; keepalive 64; keepalive_requests 1000000; }
  ${relay === undefined ? '' : `upstream relay { server ${relay}; keepalive 64; keepalive_requests 1000000; }`}
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_buffering off;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    ${relay === undefined ? open : door}
  }
}
`,
);
