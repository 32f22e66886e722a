import { METHODS } from 'node:http';
import { anyRequest } from './any-request.ts';
import { endpointRequest, startTarget } from './front-end-requests.ts';
import type { Material } from './material.ts';
import type { Random } from './random.ts';
import { fieldValue, type Header, render, tokenCharacters, visible } from './render.ts';
import { hostileText, spoilt } from './text.ts';
import { headerNames, parameters, paths } from './vocabulary.ts';

/** What is sent on one connection, a character a byte. */
export interface HostileConnection {
  /** Each a request of its own for whoever reads HTTP strictly, but for the last. */
  readonly requests: readonly string[];
}

/**
 * Requests to send on one connection: some that are valid HTTP and hostile in what they say, then
 * one that may be anything at all.
 */
export function hostileConnection(random: Random, material: Material): HostileConnection {
  const readable = random.some(0, 16, () => readableRequest(random, material));
  // A change to the last request could remove what makes it foreign.
  const last = readableRequest(random, { ...material, foreign: material.hopeless });
  return { requests: [...readable, anyRequest(random, last)] };
}

function readableRequest(random: Random, material: Material): string {
  const { cookie, state } = material.login(random);
  const headers: Header[] = [
    ['Host', random.oneIn(10) ? fieldValue(hostileText(random)) : 'relay.example'],
    ...random.some(0, 6, () => readableHeader(random, cookie)),
  ];
  if (random.oneIn(4)) return endpointRequest(random, material, headers);
  if (random.oneIn(8)) return finishedLogin(state, cookie);
  const method = random.oneIn(4) ? random.pick(readableMethods) : 'GET';
  const body = random.oneIn(100) ? hostileText(random) : undefined;
  if (body !== undefined) headers.push(['Content-Length', String(body.length)]);
  const target = random.oneIn(4) ? startTarget(random) : readableTarget(random, state);
  return render(method, target, 'HTTP/1.1', headers) + (body ?? '');
}

/** The callback of a login that nobody has disturbed. */
function finishedLogin(state: string, cookie: string): string {
  return render('GET', `/auth/provider/callback?code=good&state=${state}`, 'HTTP/1.1', [
    ['Host', 'relay.example'],
    ['Cookie', cookie],
  ]);
}

// CONNECT and Upgrade turn a connection into something else: they come last.
const readableMethods = METHODS.filter((method) => method !== 'CONNECT') as [string, ...string[]];

function readableTarget(random: Random, state: string): string {
  const path = random.oneIn(10) ? `/${visible(hostileText(random))}` : random.pick(paths);
  if (random.oneIn(4)) return path;
  const values = [
    () => 'code-1',
    () => state,
    () => visible(spoilt(random, state)),
    () => visible(hostileText(random)),
    () => encodeURIComponent(hostileText(random)),
    () => 'access_denied',
  ] as const;
  const pairs = random.some(
    0,
    6,
    () => `${random.pick(parameters)}${random.oneIn(20) ? '' : '='}${random.pick(values)()}`,
  );
  // What a callback looks like that is let through to the provider.
  if (random.oneIn(4)) pairs.push('code=good', `state=${state}`);
  return `${path}?${pairs.join('&')}`;
}

function readableHeader(random: Random, cookie: string): Header {
  const name = random.oneIn(10) ? tokenCharacters(hostileText(random)) : random.pick(headerNames);
  if (name === 'Cookie' && !random.oneIn(3)) {
    return [name, random.oneIn(2) ? cookie : fieldValue(spoilt(random, cookie))];
  }
  if (name === 'Authorization' && random.oneIn(2))
    return [name, `Bearer token-${random.below(99)}`];
  if (name === 'Origin' && random.oneIn(2)) return [name, 'https://app.example'];
  // "close" would end the connection before what follows is read.
  if (name === 'Connection') return [name, 'keep-alive'];
  return [name, fieldValue(hostileText(random))];
}
