import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import { parseBearerToken } from '../../src/oauth/authorization-header.ts';

function failureOf(...values: string[]): string {
  try {
    parseBearerToken(values);
  } catch (error) {
    if (error instanceof RelayError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('the bearer token', () => {
  it('is the second part of the header, whatever the scheme', () => {
    for (const value of [
      'Bearer t0k~en',
      'bearer t0k~en',
      'x t0k~en',
      'Bearer   t0k~en  ',
      'a t0k~en b',
    ]) {
      expect(parseBearerToken([value]), value).to.equal('t0k~en');
    }
    expect(parseBearerToken(['Bearer a,b="c"'])).to.equal('a,b="c"');
  });

  it('is missing without a header, and malformed without a second part', () => {
    expect(failureOf()).to.equal('credentials_missing');
    for (const value of ['', ' ', 'Bearer', 'Bearer ', 'Bearer\ttoken']) {
      expect(failureOf(value), JSON.stringify(value)).to.equal('credentials_malformed');
    }
  });

  it('is refused with any byte that is not allowed in tokens', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      if (byte === 0x20) continue;
      const verdict = byte > 0x20 && byte < 0x7f ? 'accepted' : 'token_malformed';
      expect(failureOf(`Bearer a${String.fromCharCode(byte)}b`), `${byte}`).to.equal(verdict);
    }
  });

  it('is refused if the header was sent twice', () => {
    expect(failureOf('Bearer a', 'Bearer a')).to.equal('credentials_repeated');
  });
});
