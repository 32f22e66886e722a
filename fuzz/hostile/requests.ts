import { METHODS } from 'node:http';
import { anyRequest } from './any-request.ts';
import type { Credentials } from './credentials.ts';
import { endpointRequest, startTarget } from './front-end-requests.ts';
import type { Random } from './random.ts';
import { fieldValue, type Header, render, tokenCharacters, visible } from './render.ts';
import { sessionRequest } from './session-requests.ts';
import { hostileText, spoilt } from './text.ts';
import { headerNames, parameters, paths } from './vocabulary.ts';

/**
 * Requests for one connection: first valid HTTP with hostile content, each one request for a strict parser,
 * then one of any form. Each character is a byte.
 */
export function hostileRequests(random: Random, credentials: Credentials): string[] {
  const readable = random.some(0, 16, () => readableRequest(random, credentials));
  // A change to the last request could remove what makes it foreign.
  const last = readableRequest(random, { ...credentials, foreign: credentials.hopeless });
  return [...readable, anyRequest(random, last)];
}

function readableRequest(random: Random, credentials: Credentials): string {
  const { callback, cookie, state } = credentials.login(random);
  const headers: Header[] = [
    ['Host', random.oneIn(10) ? fieldValue(hostileText(random)) : 'relay.example'],
    ...random.some(0, 6, () => readableHeader(random, cookie)),
  ];
  if (random.oneIn(4)) return sessionRequest(random, credentials, headers);
  if (random.oneIn(4)) return endpointRequest(random, credentials, headers);
  if (random.oneIn(8)) return finishedLogin(callback, state, cookie);
  const method = random.oneIn(4) ? random.pick(readableMethods) : 'GET';
  const body = random.oneIn(100) ? hostileText(random) : undefined;
  if (body !== undefined) headers.push(['Content-Length', String(body.length)]);
  const target = random.oneIn(4) ? startTarget(random) : readableTarget(random, state);
  return render(method, target, headers) + (body ?? '');
}

/** The callback of an undisturbed login. */
function finishedLogin(callback: string, state: string, cookie: string): string {
  return render('GET', `${callback}?code=good&state=${state}`, [
    ['Host', 'relay.example'],
    ['Cookie', cookie],
  ]);
}

// CONNECT and Upgrade change the protocol of the connection, so they come last.
const readableMethods = METHODS.filter((method) => method !== 'CONNECT') as [string, ...string[]];

const pagesToReturnTo = [
  '/profile',
  'https://wiki.relay.example/edit',
  '//evil.example',
  '/%5cevil.example',
  'https://wiki.relay.example@evil.example/',
  'https://wiki.relay.example.evil.example/',
  'javascript:alert(1)',
] as const;

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
    () => random.pick(['app', 'shop', 'wiki']),
    () => random.pick(pagesToReturnTo),
  ] as const;
  const pairs = random.some(
    0,
    6,
    () => `${random.pick(parameters)}${random.oneIn(20) ? '' : '='}${random.pick(values)()}`,
  );
  // A callback that reaches the provider.
  if (random.oneIn(4)) pairs.push('code=good', `state=${state}`);
  return `${path}?${pairs.join('&')}`;
}

function readableHeader(random: Random, cookie: string): Header {
  const name = random.oneIn(10) ? tokenCharacters(hostileText(random)) : random.pick(headerNames);
  if (name === 'Cookie' && !random.oneIn(3)) {
    return [name, random.oneIn(2) ? cookie : fieldValue(spoilt(random, cookie))];
  }
  if (name === 'Authorization' && random.oneIn(2)) return [name, `Bearer token-${random.below(99)}`];
  if (name === 'Origin' && random.oneIn(2)) return [name, 'https://app.example'];
  // "close" would end the connection before the next request is read.
  if (name === 'Connection') return [name, 'keep-alive'];
  return [name, fieldValue(hostileText(random))];
}
