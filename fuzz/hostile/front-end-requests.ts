import { METHODS } from 'node:http';
import type { Credentials, TokenRequest } from './credentials.ts';
import { allPages, frontEnds, type OAuthFrontEndName } from './front-ends.ts';
import type { Random } from './random.ts';
import { fieldValue, type Header, render, visible } from './render.ts';
import { hostileText, spoilt } from './text.ts';

type Pair = readonly [name: string, value: string];

/** The target of an OAuth request that starts a login, valid or not. */
export function startTarget(random: Random): string {
  const name = random.pick<OAuthFrontEndName>(['app', 'app', 'shop']);
  const page = random.oneIn(8) ? random.pick(allPages) : random.pick(frontEnds[name].pages);
  const challenge = random.bytes(32);
  const pairs = disturbed(random, [
    ['response_type', random.oneIn(8) ? 'token' : 'code'],
    ['client_id', random.oneIn(16) ? 'other' : name],
    ['redirect_uri', random.oneIn(2) ? page : spoilt(random, page)],
    ['code_challenge', challenge.toString('base64url')],
    ['code_challenge_method', random.oneIn(8) ? 'plain' : 'S256'],
    ['state', random.oneIn(2) ? hostileText(random) : `${random.below(1e9)}`],
    ['scope', random.pick(['read', 'read write', 'write read', 'admin', ''])],
  ]);
  const path = random.oneIn(8) ? `/auth/provider/${name}` : '/auth/provider';
  return `${path}?${visible(formOf(random, pairs))}`;
}

/** A request to the token or the revocation endpoint, valid or not, with these and other headers. */
export function endpointRequest(random: Random, credentials: Credentials, headers: readonly Header[]): string {
  const isForeign = random.oneIn(5);
  const chosen = random.oneIn(3) ? credentials.hopeless : credentials.good;
  const pairs = pairsOf(random.pick(isForeign ? credentials.foreign : chosen), random);
  const origin = isForeign ? random.pick(foreignOrigins)(random) : 'https://app.example';
  const named: Header[] = isForeign || !random.oneIn(4) ? [['Origin', origin]] : [];
  const path = random.oneIn(5) ? '/auth/provider/revoke' : '/auth/provider/token';
  // Otherwise the relay would rarely reach the last of its checks.
  const { body, ...further } = random.oneIn(3)
    ? rightRequest(random, credentials, pairs)
    : wrongRequest(random, credentials, pairs);
  const method = random.oneIn(16) ? random.pick(methods) : 'POST';
  const all = [...headers, ...named, ...further.headers];
  const framing: Header = ['Content-Length', `${body.length}`];
  if (!random.oneIn(8)) return render(method, path, [...all, framing]) + body;
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  const chunked: Header = ['Transfer-Encoding', 'chunked'];
  return `${render(method, path, [...all, chunked])}${chunk}0\r\n\r\n`;
}

/** A request to an endpoint, without its address. */
interface Content {
  readonly headers: readonly Header[];
  readonly body: string;
}

function rightRequest(random: Random, { proofs }: Credentials, pairs: readonly Pair[]): Content {
  const body = `${new URLSearchParams(pairs.map(([name, value]) => [name, value]))}`;
  const proof = ['DPoP', random.pick(proofs)] as const;
  return { headers: [['Content-Type', formType], proof], body };
}

function wrongRequest(random: Random, credentials: Credentials, pairs: readonly Pair[]): Content {
  const { type, body } = bodyOf(random, disturbed(random, pairs));
  const headers: Header[] = [
    ...(random.oneIn(16) ? [] : [['Content-Type', type] as const]),
    ...(random.oneIn(32) ? [['Content-Encoding', random.pick(['gzip', 'br', ''])] as const] : []),
    ...random.some(random.oneIn(4) ? 0 : 1, random.oneIn(9) ? 3 : 2, () => dpop(random, credentials)),
  ];
  return { headers, body };
}

const formType = 'application/x-www-form-urlencoded';
const jsonType = 'application/json';
const methods = METHODS.filter((method) => method !== 'CONNECT') as [string, ...string[]];

/** None of these is the origin of the front end `app`, in any reading of the header. */
const foreignOrigins = [
  () => frontEnds.shop.origin,
  () => 'https://evil.example',
  () => 'null',
  () => '',
  () => 'http://app.example',
  () => 'https://app.example.evil.example',
  () => 'https://app.example:444',
  () => 'https://APP.example',
  () => 'https://app.example, https://evil.example',
  (random: Random) => fieldValue(hostileText(random)),
] as const;

function pairsOf(request: TokenRequest, random: Random): Pair[] {
  const pairs = Object.entries(request);
  const token = request['refresh_token'] ?? request['code'] ?? '';
  if (random.oneIn(3)) pairs.push(['token', token]);
  if (random.oneIn(8)) pairs.push(['scope', random.pick(['read', 'read write', 'admin', ' '])]);
  if (random.oneIn(40)) pairs.push(['padding', 'x'.repeat(random.below(20_000))]);
  return pairs;
}

/** The pairs with a few of them dropped, doubled, replaced or changed. */
function disturbed(random: Random, pairs: readonly Pair[]): Pair[] {
  return pairs.flatMap(([name, value]): Pair[] => {
    if (!random.oneIn(12)) return [[name, value]];
    return random.pick<() => Pair[]>([
      () => [],
      () => [
        [name, value],
        [name, value],
      ],
      () => [[name, hostileText(random)]],
      () => [[name, spoilt(random, value)]],
      () => [[spoilt(random, name), value]],
      () => [[random.pick(['__proto__', 'constructor', name.toUpperCase(), `${name}[]`]), value]],
    ])();
  });
}

function dpop(random: Random, { proofs }: Credentials): Header {
  const proof = random.pick(proofs);
  const value = random.pick<() => string>([
    () => proof,
    () => proof,
    () => proof,
    () => fieldValue(spoilt(random, proof)),
    () => fieldValue(hostileText(random)),
    () => `${proof}, ${proof}`,
    () => proof.repeat(1 + random.below(12)),
    () => proof.split('.').slice(0, 2).join('.'),
  ])();
  return ['DPoP', value];
}

/** The pairs in a format of the endpoint, or in one that it does not accept. */
function bodyOf(random: Random, pairs: readonly Pair[]): { type: string; body: string } {
  const form = formOf(random, pairs);
  const json = Buffer.from(JSON.stringify(Object.fromEntries(pairs))).toString('latin1');
  return random.pick([
    { type: formType, body: form },
    { type: formType, body: form },
    { type: jsonType, body: json },
    { type: jsonType, body: spoilt(random, json) },
    { type: 'text/plain', body: random.oneIn(2) ? form : hostileText(random) },
  ]);
}

/** A form in which most of the special characters are encoded. */
function formOf(random: Random, pairs: readonly Pair[]): string {
  const write = random.oneIn(6)
    ? (text: string) => text.replaceAll(/[&=#+%]/g, '')
    : (text: string) => encodeURIComponent(text);
  return pairs.map(([name, value]) => `${write(name)}=${write(value)}`).join('&');
}
