import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { getDomain } from 'tldts';
import * as v from 'valibot';
import { createOriginMatcher, matches } from '../../src/origins/origin-pattern.ts';
import { originPattern, redirectUri } from '../../src/origins/origin-schemas.ts';
import { findRedirectUri } from '../../src/origins/redirect-uri.ts';
import { plainPayloads } from '../harness/client/redirect-payloads.ts';

// scripts/long fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1000);
const forAll = <T>(inputs: Arbitrary<T>, check: (input: T) => void) =>
  fc.assert(fc.property(inputs, check), { numRuns });

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const domain = fc
  .tuple(fc.array(label, { maxLength: 2 }), fc.constantFrom('example.com', 'me.github.io', 'a.co.uk'))
  .map(([labels, own]) => [...labels, own].join('.'));
const port = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 1, max: 65_535 }).map((number) => `:${number}`),
);
const labelPatterns = fc.tuple(domain, port).map(([name, at]) => `https://*.${name}${at}`);
const portPatterns = fc.constantFrom('localhost', '127.0.0.1', '[::1]').map((host) => `http://${host}:*`);
const patterns = fc.oneof(
  labelPatterns,
  portPatterns,
  fc.tuple(domain, port).map(([name, at]) => `https://${name}${at}`),
);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.stringMatching(/^[a-z0-9*.:/@#?\\%-]{0,30}$/),
  fc.constantFrom(...plainPayloads).map((one) => one.toWellFormed()),
);

/** A pattern's text with other text in place of its star, or anywhere else. */
const near = (pattern: string): Arbitrary<string> =>
  fc.oneof(
    text.map((one) => pattern.replace('*', () => one)),
    fc.tuple(label, text, fc.nat(), fc.nat(3)).map(([one, inserted, position, length]) => {
      const whole = pattern.replace('*', pattern.startsWith('https') ? one : '3000');
      const at = position % (whole.length + 1);
      return whole.slice(0, at) + inserted + whole.slice(at + length);
    }),
    fc
      .tuple(label, fc.nat(70_000))
      .map(([one, number]) => pattern.replace('*', pattern.startsWith('https') ? one : `${number}`)),
    text,
  );

const withNear = patterns.chain((pattern) => fc.tuple(fc.constant(pattern), near(pattern)));

/** The origins that a pattern allows, written independently of the code. */
function isAllowed(pattern: string, origin: string): boolean {
  const given = URL.parse(origin);
  if (given === null || given.origin !== origin) return false;
  if (!pattern.includes('*')) return pattern === origin;
  const own = new URL(pattern.replace(/:\*$/, ''));
  if (given.protocol !== own.protocol) return false;
  if (own.protocol === 'http:') return given.hostname === own.hostname && given.port !== '0';
  const [first = '', ...rest] = given.hostname.split('.');
  const isLabel = /^[a-z0-9-]{1,63}$/.test(first) && !/^-|-$/.test(first);
  return isLabel && given.port === own.port && `*.${rest.join('.')}` === own.hostname;
}

describe('whatever origin a request has,', () => {
  it('a pattern allows exactly the origins that its * stands for', () => {
    forAll(withNear, ([written, origin]) => {
      const pattern = v.parse(originPattern, written);
      expect(matches(pattern, origin)).to.equal(isAllowed(pattern, origin));
    });
  });

  it('all origins that a pattern allows have the same owner', () => {
    const anyName = text.map((one) => `https://*.${one}`);
    forAll(fc.tuple(fc.oneof(labelPatterns, anyName), label), ([written, one]) => {
      const parsed = v.safeParse(originPattern, written);
      if (!parsed.success) return;
      const pattern = parsed.output;
      const options = { allowPrivateDomains: true };
      const owned = getDomain(pattern.replace('*.', ''), options);
      expect(owned).to.be.a('string');
      // The names of registries, such as s3.amazonaws.com, are theirs as well.
      expect(getDomain(pattern.replace('*', one), options)).to.be.oneOf([owned, null]);
    });
  });

  it('it is looked up among many patterns as in each of them', () => {
    const many = fc.array(patterns, { minLength: 1, maxLength: 5 });
    const requests = many.chain((some) => fc.tuple(fc.constant(some), fc.oneof(...some.map((one) => near(one)))));
    forAll(requests, ([some, origin]) => {
      const known = some.map((one) => v.parse(originPattern, one));
      const isKnown = known.some((pattern) => matches(pattern, origin));
      expect(createOriginMatcher(known)(origin)).to.equal(isKnown);
    });
  });

  it('a pattern is read as it was written', () => {
    const likePatterns = withNear.map(([, one]) => one);
    forAll(fc.oneof(patterns, likePatterns), (written) => {
      const parsed = v.safeParse(originPattern, written);
      if (!parsed.success) return;
      expect(v.parse(originPattern, parsed.output)).to.equal(parsed.output);
    });
  });
});

describe('whatever address a request names,', () => {
  const paths = fc.constantFrom('/', '/signed-in', '/signed-in?theme=dark', '/a*b');

  it('it equals a registered address, or it is refused', () => {
    const requests = fc
      .tuple(patterns, paths)
      .chain(([pattern, path]) => fc.tuple(fc.constant(pattern + path), near(pattern + path)));
    forAll(requests, ([written, given]) => {
      const uri = v.parse(redirectUri, written);
      expect(uri).to.equal(written.replace(/:443(?=\/)/, ''));
      const found = findRedirectUri(given, [uri]);
      const url = URL.parse(given);
      const [, pattern = '', path = ''] = /^(.*?\/\/[^/]*)(.*)$/.exec(uri) ?? [];
      const isNamed = url !== null && isAllowed(pattern, url.origin) && url.href === url.origin + path;
      expect(found).to.equal(isNamed ? url.href : undefined);
    });
  });
});
