import { expect } from 'chai';
import fc from 'fast-check';
import { mapLocation, mapTarget } from '../../src/api-proxy/map-target.ts';

// scripts/long fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1000);

const prefix = '/api/github/';
const base = new URL('https://api.example:8443/v3/x/');

/** Parts of which attacks on paths consist. */
const piece = fc.oneof(
  fc.constantFrom(
    '.',
    '..',
    '/',
    '//',
    '\\',
    '%',
    '%2e',
    '%2E%2e',
    '%2f',
    '%5c',
    '%25',
    '%252e',
    '%c0%af',
    '%00',
    '%0a',
    ';',
    '?',
    '#',
    '@',
    ':',
    'a',
    'b.c',
    '&',
    ' ',
    '\t',
    '%e2%80%a5',
    '%ef%bc%8f',
    'evil.example',
    'https:',
    '%20',
    '...',
    '%u002e',
    '*',
    '[',
    ']',
    '%ff',
    '\u2025',
    '\u00e9',
  ),
  fc.string({ maxLength: 4, unit: 'binary' }),
  fc.nat(255).map((byte) => `%${byte.toString(16).padStart(2, '0')}`),
);
const rest = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

/** Decodes until nothing changes, as careless servers do, and resolves dot segments on the way. */
function carelessly(path: string): string {
  let text = path;
  for (let round = 0; round < 5; round += 1) {
    try {
      text = decodeURIComponent(text);
    } catch {
      return text;
    }
  }
  return text;
}

/** Checks the URL of each request that is not refused. */
function forAnyInput(check: (url: URL) => void): void {
  const property = fc.property(rest, (input) => {
    const url = mapTarget(prefix + input, prefix, base);
    if (url !== undefined) check(url);
  });
  fc.assert(property, { numRuns });
}

describe('the path of a proxied request, for any input', () => {
  it('is below the URL, or refused', () => {
    forAnyInput((url) => {
      expect(url.origin).to.equal(base.origin);
      expect(url.username + url.password + url.hash).to.equal('');
      expect(url.pathname.startsWith(base.pathname)).to.equal(true);
      // Parsing it again moves nothing.
      expect(new URL(url.href).href).to.equal(url.href);
    });
  });

  it('is below the URL for a server that decodes it again and again', () => {
    forAnyInput((url) => {
      const path = carelessly(url.pathname).normalize('NFKC').replaceAll('\\', '/');
      const [, ...segments] = path.split('/').map((segment) => segment.replace(/;.*/s, '').trim());
      expect(segments.slice(0, 2)).to.deep.equal(['v3', 'x']);
      expect(segments.slice(2, -1)).not.to.include.members(['']);
      for (const segment of segments) expect(segment).not.to.match(/^\.+$/);
      expect(path).not.to.match(/\p{Cc}/u);
    });
  });

  it('never leads to another prefix', () => {
    fc.assert(
      fc.property(rest, (input) => {
        const target = `/${input}`;
        const url = mapTarget(target, prefix, base);
        expect(url === undefined || target.startsWith(prefix)).to.equal(true);
      }),
    );
  });

  it('is the same path and query, if it is plain', () => {
    const segment = fc.stringMatching(/^[a-zA-Z0-9_~-][a-zA-Z0-9._~-]{0,10}$/);
    const query = fc.stringMatching(/^[a-zA-Z0-9=&._~-]{0,20}$/);
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), query, (segments, text) => {
        const path = segments.join('/');
        const url = mapTarget(`${prefix}${path}?${text}`, prefix, base);
        expect(url?.href.replace(/\?$/, '')).to.equal(`${base.href}${path}?${text}`.replace(/\?$/, ''));
      }),
    );
  });
});

describe('the target of a redirect of the API, for any input', () => {
  it('is below the path of the relay, or there is none', () => {
    const mounted = `https://login.example${prefix}`;
    const from = new URL('a/b', base);
    const location = fc
      .tuple(fc.constantFrom('', '/', '//', base.href, base.origin, '/v3/x/', '\\\\'), rest)
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(location, (input) => {
        const target = mapLocation(input, from, base, new URL(mounted));
        if (target === undefined) return;
        expect(new URL(target).href.startsWith(mounted)).to.equal(true);
      }),
      { numRuns },
    );
  });
});
