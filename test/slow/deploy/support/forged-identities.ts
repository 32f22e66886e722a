import { claimedIdentities } from '../../../../src/api-proxy/claimed-identities.ts';
import { type Header, identity } from './guarded-application.ts';

/** Whom the client claims to be. */
export const claim = 'mallory';

/** The names with which the relay and other proxies name a person, and earlier names of the templates. */
const names = [
  ...new Set([
    ...identity.map(([name]) => name),
    ...Object.values(claimedIdentities).flat(),
    'X-Auth',
    'X-Authuser',
    'OIDC-CLAIM-sub',
    'X-SSL-Client-CN',
    'SSL-CLIENT-S-DN',
    'X-MS-CLIENT-PRINCIPAL',
  ]),
];
/** Names that only a pattern matches. */
const madeUp = Object.keys(claimedIdentities).flatMap((pattern) =>
  pattern.endsWith('*') ? [pattern.replace('*', 'made-up')] : [],
);

const spellings = (name: string) => [
  name,
  name.toLowerCase(),
  name.toUpperCase(),
  name.replace('-', '_'),
  name.replaceAll('-', '_'),
  name.replaceAll('-', '_').toUpperCase(),
  name.replaceAll('-', '.'),
  name.replaceAll('-', '|'),
];

const forgeriesOf = (name: string): Header[][] => [
  ...spellings(name).map((spelt): Header[] => [[spelt, claim]]),
  [
    [name, claim],
    [name.toLowerCase(), claim],
  ],
  [['Connection', `keep-alive, ${name.toLowerCase()}`]],
  [
    ['Connection', name],
    ['Connection', 'Authorization'],
    [name, claim],
  ],
];

/**
 * Headers of a client that claims to be somebody else, or nobody.
 *
 * @param matchesPatterns whether the proxy removes names that it does not know whole
 */
export const forgeries = (matchesPatterns: boolean): readonly (readonly Header[])[] =>
  [...names, ...(matchesPatterns ? madeUp : [])].flatMap(forgeriesOf);
