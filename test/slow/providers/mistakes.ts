import { freePort } from '../../harness/system/free-port.ts';
import type { Rig } from './rig.ts';
import type { Mistake, World } from './world.ts';

/** A wrong configuration, and the words of a finding about it. */
export interface WrongConfiguration {
  /** What is wrong. */
  readonly wrong: string;
  readonly cause: RegExp;
  make(rig: Rig, world: World): Mistake | Promise<Mistake>;
}

/** Mistakes of operators. */
export const wrongConfigurations: readonly WrongConfiguration[] = [
  { wrong: 'client secret', cause: /secret/, make: () => ({ clientSecret: 'another-secret' }) },
  {
    wrong: 'client id',
    cause: /client identifier|--client-id/,
    make: () => ({ flags: { 'client-id': 'another-client' } }),
  },
  {
    wrong: 'callback',
    cause: /callback URL|--base-url/,
    make: async () => ({ flags: { 'base-url': `http://localhost:${await freePort()}` } }),
  },
  {
    wrong: 'scope',
    cause: /scope/,
    make: (_rig, { server }) => ({
      flags: { scope: `${server.flags['scope'] ?? 'openid'} another-scope` },
    }),
  },
  {
    wrong: 'method',
    cause: /--token-request/,
    make: ({ wrongTokenRequest }) => ({ flags: { 'token-request': wrongTokenRequest } }),
  },
  {
    wrong: "issuer's path",
    cause: /issuer/,
    make: (_rig, { server }) => ({
      flags: { issuer: `${server.issuer.replace(/\/$/, '')}/wrong` },
    }),
  },
  {
    wrong: "issuer's scheme",
    cause: /issuer|https?:\/\//,
    make: (_rig, { server }) => ({ flags: { issuer: withOtherScheme(server.issuer) } }),
  },
];

function withOtherScheme(address: string): string {
  return address.startsWith('https:')
    ? address.replace('https:', 'http:')
    : address.replace('http:', 'https:');
}
