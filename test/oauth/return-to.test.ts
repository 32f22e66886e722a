import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { parseQuery } from '../../src/oauth/query.ts';
import { readReturnTo } from '../../src/oauth/start-parameters.ts';
import { redirectPayloads } from '../harness/client/redirect-payloads.ts';

const origin = 'https://app.example';

/** The page that a start with this parameter returns to; `refused` if there is none. */
function returnTo(value: string): string | undefined {
  return ofQuery(`return_to=${encodeURIComponent(value)}`);
}

function ofQuery(query: string): string | undefined {
  try {
    return readReturnTo(parseQuery(query), origin);
  } catch (error) {
    if (error instanceof RelayError && error.code === 'return_to_invalid') return 'refused';
    throw error;
  }
}

describe('return_to', () => {
  for (const [given, page] of Object.entries({
    '/': `${origin}/`,
    '/a/b?c=d&e#f': `${origin}/a/b?c=d&e#f`,
    '/ä/🔑?é': `${origin}/%C3%A4/%F0%9F%94%91?%C3%A9`,
    '/a/../../b': `${origin}/b`,
    [origin]: `${origin}/`,
    [`${origin}/a b`]: `${origin}/a%20b`,
    'HTTPS://APP.EXAMPLE/A': `${origin}/A`,
    [`${origin}:443/`]: `${origin}/`,
    [`${origin}\\a`]: `${origin}/a`,
    'https:\\\\app.example\\a': `${origin}/a`,
    '/\ta\n': `${origin}/a`,
    '/http://evil.example/': `${origin}/http://evil.example/`,
    '/@evil.example': `${origin}/@evil.example`,
  })) {
    it(`takes ${JSON.stringify(given)}`, () => {
      expect(returnTo(given)).to.equal(page);
    });
  }

  for (const given of [
    '//evil.example',
    '\\\\evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/\n\\evil.example',
    '///evil.example',
    'https://evil.example/',
    'https://app.example.evil.example/',
    'https://app.example@evil.example/',
    'https://user@app.example/',
    'https://user:password@app.example/',
    'https://:@app.example@evil.example/',
    'http://app.example/',
    'https://app.example:8443/',
    'https://app.example./',
    'https://sub.app.example/',
    `blob:${origin}/0c7a`,
    `filesystem:${origin}/temporary/a`,
    `view-source:${origin}/`,
    'javascript:alert(1)//https://app.example/',
    'java\nscript:alert(1)',
    'data:text/html,a',
    'about:blank',
    'profile',
    './profile',
    '?a',
    '#a',
    'app.example/profile',
    ' ',
    'null',
    `/${'x'.repeat(2048)}`,
    `/${'ä'.repeat(700)}`,
  ]) {
    it(`refuses ${JSON.stringify(given.slice(0, 60))}`, () => {
      expect(returnTo(given)).to.equal('refused');
    });
  }

  it('is refused if it is not text, or given twice', () => {
    const twice = ['return_to=/a&return_to=/b', 'return_to=&return_to=/b'];
    for (const query of ['return_to=%ff', 'return_to=/%zz', ...twice]) {
      expect(ofQuery(query), query).to.equal('refused');
    }
  });

  it('may be missing or empty', () => {
    for (const query of ['', 'return_to', 'return_to=', 'RETURN_TO=//evil.example']) {
      expect(ofQuery(query), query).to.equal(undefined);
    }
  });

  it(`leads to no other origin with ${redirectPayloads.length} payloads of open redirects`, () => {
    for (const payload of redirectPayloads) {
      for (const value of [
        payload,
        `/${payload}`,
        `${origin}${payload}`,
        `${origin}/${payload}`,
        `https://${payload}app.example/`,
        `https://app.example${payload}/`,
      ]) {
        const page = returnTo(value.toWellFormed());
        if (page === 'refused' || page === undefined) continue;
        expect(page.startsWith(`${origin}/`), value).to.equal(true);
        const { origin: actual, username, password, href } = new URL(page);
        expect([actual, username, password, href], value).to.deep.equal([origin, '', '', page]);
        expect(page, value).to.match(/^[\x21-\x7e]+$/);
      }
    }
  });
});
