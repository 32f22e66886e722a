import { expect } from 'chai';
import { withoutGateCredentials } from '../../src/oauth/authorization-header.ts';

const base64 = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('base64');

describe('credentials of a gate in front of the relay', () => {
  const gates: Readonly<Record<string, string>> = {
    'user and password': `Basic ${base64('ada:s3cret')}`,
    'in other letters, with more spaces': `  bAsIc   ${base64('ada:s3cret')}  `,
    'a password with colons': `Basic ${base64('ada:a:b:c')}`,
    'no password': `Basic ${base64('ada:')}`,
    'no user': `Basic ${base64(':s3cret')}`,
    'without padding': `Basic ${base64('ada:s3cret1').replace(/=+$/, '')}`,
    'of UTF-8': `Basic ${base64('zoë:pässwort')}`,
    'a password of Latin-1': `Basic ${base64('ada:p\u00e4sswort', 'latin1')}`,
    'in the alphabet of URLs': `Basic ${Buffer.from('ada:>>>???').toString('base64url')}`,
    'with a second scheme in the same line': `Basic ${base64('ada:s3cret')}, Bearer token`,
    'with something behind': `Basic ${base64('ada:s3cret')} more`,
    Digest: 'Digest username="ada", realm="staging", response="0123"',
    Negotiate: 'Negotiate YIIJvwYGKwYBBQUCoIIJszCCCa',
    NTLM: 'ntlm TlRMTVNTUAABAAAA',
    'SCRAM-SHA-256': 'SCRAM-SHA-256 realm="x", data=biwsbj1hZGE',
    'a scheme alone': 'Negotiate',
  };
  for (const [name, value] of Object.entries(gates)) {
    it(`count as no credentials: ${name}`, () => {
      expect(withoutGateCredentials([value])).to.deep.equal([]);
    });
  }

  const tokens: Readonly<Record<string, string>> = {
    Bearer: 'Bearer token',
    'Bearer with user and password': `Bearer ${base64('ada:s3cret')}`,
    'any other scheme': `token ${base64('ada:s3cret')}`,
    'a token after Basic': 'Basic gho_16C7e42F292c6912E7710c838347Ae178B4a',
    'base64 without a colon': `Basic ${base64('token-one')}`,
    'base64 of bytes with a colon': `Basic ${Buffer.from([0x9f, 0x3a, 0x00, 0xff, 0x41, 0x3a]).toString('base64')}`,
    'a JSON Web Token': `Basic ${base64('{"alg":"none"}').replaceAll('=', '')}.${base64('{"sub":"ada"}')}.`,
    'a word that begins with the name of a scheme': 'NegotiateX token',
    nothing: '',
  };
  for (const [name, value] of Object.entries(tokens)) {
    it(`are not ${name}`, () => {
      expect(withoutGateCredentials([value])).to.deep.equal([value]);
    });
  }

  it('are not read if there is a second header, because it is unclear which of them counts', () => {
    const values = [`Basic ${base64('ada:s3cret')}`, 'Bearer token'];
    expect(withoutGateCredentials(values)).to.deep.equal(values);
    expect(withoutGateCredentials([])).to.deep.equal([]);
  });
});
