import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import { registration } from '../registration.ts';

/** The headers that the relay puts on every answer. */
export function commonHeaders(): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': randomUUID(),
    Vary: 'Origin',
  };
}

/** The headers that let the front end read an answer. */
export const crossOrigin = {
  'Access-Control-Allow-Origin': registration.frontEnd,
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': 'Retry-After,WWW-Authenticate,X-Request-Id',
};

/** The headers that answer a preflight. */
export const preflight = {
  'Access-Control-Allow-Origin': registration.frontEnd,
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Max-Age': '86400',
  'Access-Control-Allow-Methods': METHODS.join(','),
  'Access-Control-Allow-Headers': 'authorization',
};
