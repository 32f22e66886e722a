import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import { createCounters, type Home } from '../memory/home.ts';
import { addressesBehind, isUnixSocket } from './client-address.ts';

/**
 * Counts a request of a client.
 *
 * @param most requests within the time
 * @param detail what a client reads that sends more
 * @throws {RelayError} `rate_limited`
 */
export type CountRequest = (address: string, most: number, detail?: string) => Promise<void>;

/** @param seconds after which the count starts anew */
export function createRequestCount(home: Home, kind: string, seconds: number): CountRequest {
  const counters = createCounters(home, kind, seconds);
  return async (address, most, detail) => {
    const { count, wait } = await counters.add(counters.counterOf(address), 1);
    if (count <= most) return;
    throw new RelayError('rate_limited', { retryIn: wait, detail });
  };
}

/**
 * Answers 429 to a client that sends more than `perMinute` requests in a minute.
 *
 * @param keyOf tells clients apart
 */
export function rateLimit(
  perMinute: number,
  keyOf: (request: IncomingMessage) => string,
  home: Home,
): Middleware {
  const count = createRequestCount(home, 'requests', 60);
  return async (ctx, next) => {
    await count(keyOf(ctx.req), perMinute);
    await next();
  };
}

/**
 * Identifies the client of a request: by its IPv4 address, or by the /64 network of its IPv6 address,
 * the smallest that a subscriber gets. Clients without an address count as one: those behind an
 * untrusted Unix socket, and those that have hung up.
 *
 * @param trustedProxies addresses and networks whose `X-Forwarded-For` is trusted
 */
export function rateLimitKeyBehind(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string {
  const { addressOf } = addressesBehind(trustedProxies);
  return (request) => {
    const address = addressOf(request);
    return address === undefined ? '' : subscriber(address);
  };
}

/**
 * Identifies the client of a request, if the address is known to be the client's own. It may belong to a
 * proxy if it is a loopback address, if a trusted proxy names no client, or if the request comes through
 * an untrusted Unix socket.
 */
export function ownAddressBehind(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string | undefined {
  const { addressOf, trusts } = addressesBehind(trustedProxies);
  return (request) => {
    const address = addressOf(request);
    if (address === undefined) return isUnixSocket(request.socket) ? undefined : '';
    const isProxy = ipaddr.process(address).range() === 'loopback' || trusts(address, 0);
    return isProxy ? undefined : subscriber(address);
  };
}

function subscriber(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const bytes = parsed.toByteArray();
  // In a network of IPv6 alone, a translator has one /64 for all of IPv4. @see RFC 6052 §2.2, RFC 7755
  const isTranslated = parsed.range() === 'rfc6052' || parsed.range() === 'rfc6145';
  if (isTranslated) return bytes.slice(-4).join('.');
  return Buffer.from(bytes.slice(0, 8)).toString('hex');
}
