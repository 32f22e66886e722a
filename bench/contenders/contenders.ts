import { fileURLToPath } from 'node:url';
import { runtimeOptions } from '../../scripts/binary/runtime-options.ts';
import { registration } from '../registration.ts';
import { configuredServer } from './configured-server.ts';
import type { Contender } from './contender.ts';
import { direct } from './direct.ts';
import { server } from './server.ts';

const everything = [
  'start-login',
  'complete-login',
  'user-lookup',
  'preflight',
  'mixed',
  'distant-lookup',
];
const protectedLogins = [...everything, 'memory'];
const logins = ['start-login', 'complete-login'];

/** Everything that is measured, in the order of the report. */
export const contenders: readonly Contender[] = [
  relay('relay', source('../../bin/login-relay.ts'), true, protectedLogins),
  relay('relay, unprotected', source('../../bin/login-relay.ts'), false, everything),
  relay('relay binary', binary(), true, protectedLogins),
  relay('relay binary, unprotected', binary(), false, everything),
  peer('grant on Koa', ['grant-koa.js'], '/auth/provider', logins),
  peer('@fastify/oauth2', ['fastify-oauth2.js'], '/auth/provider', logins),
  peer(
    '@fastify/oauth2, kept connections',
    ['fastify-oauth2.js', '--keep-alive'],
    '/auth/provider',
    logins,
  ),
  peer('@hapi/bell', ['hapi-bell.js'], '/auth/provider/callback', logins),
  server({
    name: 'FastAPI, httpx',
    kind: 'peer',
    workloads: everything,
    protection: false,
    needs: '/usr/lib/python3/dist-packages/fastapi',
    command: () => [
      '/usr/bin/python3',
      source('../peers/fastapi_relay.py'),
      JSON.stringify(registration),
    ],
  }),
  limit('node:http', ['bare-http.ts', '--protection'], true, protectedLogins),
  limit('node:http, unprotected', ['bare-http.ts'], false, everything),
  limit('Koa, router and CORS', ['bare-koa.ts'], false, ['start-login']),
  limit('got on node:http', ['bare-got.ts'], false, ['user-lookup', 'distant-lookup']),
  configuredServer({
    name: 'nginx',
    kind: 'limit',
    workloads: ['start-login', 'user-lookup', 'preflight'],
    protection: false,
    program: '/usr/sbin/nginx',
    template: source('../peers/nginx.conf'),
    words: (file) => ['-c', file],
  }),
  direct,
];

function source(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

function binary(): string {
  return source('../../dist/login-relay');
}

function relay(
  name: string,
  program: string,
  protection: boolean,
  workloads: readonly string[],
): Contender {
  const interpreter = program.endsWith('.ts') ? [process.execPath, ...runtimeOptions] : [];
  return server({
    name,
    kind: 'relay',
    workloads,
    protection,
    needs: program,
    command: (url) => [
      ...interpreter,
      program,
      ...flags({
        port: '0',
        origin: registration.frontEnd,
        'base-url': registration.baseUrl,
        'client-id': registration.clientId,
        'authorize-url': `${url}/authorize`,
        'token-url': `${url}/token`,
        'user-url': `${url}/user`,
        'state-check': protection ? 'browsers' : 'off',
        'log-format': 'json',
      }),
    ],
  });
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

function peer(
  name: string,
  [program = '', ...words]: readonly string[],
  loginPath: string,
  workloads: readonly string[],
): Contender {
  return server({
    name,
    kind: 'peer',
    workloads,
    protection: true,
    loginPath,
    needs: source('../peers/node_modules'),
    command: () => [process.execPath, source(`../peers/${program}`), ...words],
  });
}

function limit(
  name: string,
  [program = '', ...rest]: readonly string[],
  protection: boolean,
  workloads: readonly string[],
): Contender {
  const file = source(`../limits/${program}`);
  return server({
    name,
    kind: 'limit',
    workloads,
    protection,
    needs: file,
    command: () => [process.execPath, file, ...rest],
  });
}
