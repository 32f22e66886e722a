import { expect } from 'chai';
import { relayErrorOf } from '../../fuzz/parsers/relay-error-of.ts';
import { RelayError } from '../../src/errors.ts';
import { createLoginCookies } from '../../src/login/cookies.ts';
import { createStates } from '../../src/login/state.ts';
import { parseBearerToken } from '../../src/oauth/authorization-header.ts';
import { parseEndpointParameters } from '../../src/oauth/endpoint-parameters.ts';
import { parseQuery } from '../../src/oauth/query.ts';
import { narrowedScope } from '../../src/oauth/scope.ts';
import { registeredRedirectUri } from '../../src/oauth/start-parameters.ts';
import { koaContext } from '../harness/login/koa-context.ts';

const states = createStates([Buffer.alloc(32)], () => 'provider', 'https://relay.example/callback');
const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };
const jsonHeaders = { 'content-type': 'application/json' };
const cookies = createLoginCookies(true);
const id = Buffer.alloc(16);
const few = 1000;
const many = 16_000;

const readers: Record<string, { read: (text: string) => unknown; parts: readonly string[] }> = {
  'a Cookie header': {
    read: (cookie) => cookies.isFinished(koaContext({ cookie }), id),
    parts: [
      ...['a=;', 'a;', ';', '=', '"', '="', '=""', '= "', ' ', '\t'],
      '__Host-Http-lr_login_finished=0.;',
    ],
  },
  'a query': {
    read: parseQuery,
    parts: ['&', '=', '%', '+', 'a&', 'code=a&', '%ff', '__proto__&'],
  },
  'an Authorization header': {
    read: (value) => parseBearerToken([value]),
    parts: [' ', 'a ', 'a'],
  },
  'a state': { read: states.open, parts: ['A', '=', '-'] },
  'a form': {
    read: (body) => parseEndpointParameters(formHeaders, Buffer.from(body)),
    parts: ['&', '=', '%', '+', 'code=a&', 'token&', '__proto__&'],
  },
  'a JSON body': {
    read: (body) => parseEndpointParameters(jsonHeaders, Buffer.from(body)),
    parts: ['[', '{"a":', '"', '\\', ' ', '{"code":"'],
  },
  'an OAuth request': {
    read(query) {
      const parsed = parseQuery(`redirect_uri=${query}&scope=${query}`);
      relayErrorOf(() => registeredRedirectUri(parsed, ['https://app.example/']));
      return narrowedScope(parsed, 'read write');
    },
    parts: ['read+', 'x+', '+', '/', '%5c', 'https://', '@', '%09'],
  },
};

/** The CPU time in microseconds, the minimum of several runs. */
function cost(read: (text: string) => unknown, text: string): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    try {
      read(text);
    } catch (error) {
      expect(error).to.be.instanceOf(RelayError);
    }
    return process.cpuUsage(before).user;
  });
  return Math.min(...times);
}

describe('reading a long input', () => {
  for (const [input, { read, parts }] of Object.entries(readers)) {
    it(`takes time in proportion to its length: ${input}`, () => {
      for (const part of parts) {
        cost(read, part.repeat(few));
        // If the shorter text takes almost no time, the ratio is not meaningful.
        const short = Math.max(cost(read, part.repeat(few)), 200);
        const long = cost(read, part.repeat(many));
        // Linear time gives a factor of 16, and quadratic time 256.
        expect(long / short, JSON.stringify(part)).to.be.below(100);
      }
    });
  }
});
