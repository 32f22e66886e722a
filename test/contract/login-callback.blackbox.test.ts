import { expect } from 'chai';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect, expectToken } from '../harness/expect/expectations.ts';
import { answer, json, reset, silence } from '../harness/provider/provider-behaviours.ts';
import { callbackPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

/** Every printable ASCII character except the space. A header can carry these (RFC 6750). */
const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index));

/** Tokens that do not fit into an Authorization header. The provider decides what a token is. */
const opaqueTokens = [
  'a b',
  ' ',
  '+ +',
  'a\nb',
  'a\r\nX-Evil: 1',
  '\0',
  '\u007f',
  '\t',
  '\u{e9}',
  '\u{1f511}',
  '"&=#%/?',
  'undefined',
];

describe('login callback', () => {
  describe('with the defaults', () => {
    const underTest = relayUnderTest();
    const impatient = relayUnderTest({ 'provider-timeout': '0.2' });
    const callback = (query: string) => underTest().get(`${callbackPath}${query}`);

    it('exchanges the code once and hands the token to the front end', async () => {
      const code = canary('code');
      const token = expectToken(await underTest().logIn(code));
      expect(token).to.equal(underTest().provider.tokenFor(code));
      expect(underTest().provider.credentials('token')).to.deep.equal([code]);
    });

    it('hands over any text as a token, percent-encoded', async () => {
      for (const token of opaqueTokens) {
        underTest().provider.onToken = json({ access_token: token });
        const answered = await underTest().logIn();
        expect(expectToken(answered)).to.equal(token);
        const { location = '' } = answered.headers;
        const [, encoded = ''] = location.split('access_token=');
        expect(encoded).to.match(/^[\w.*%-]+$/);
        expect(decodeURIComponent(encoded)).to.equal(token);
        expect(answered.headers).not.to.have.property('x-evil');
      }
    });

    it('hands over a token of every visible character unchanged', async () => {
      underTest().provider.onToken = json({ access_token: visible.join('') });
      expect(expectToken(await callback('?code=one'))).to.equal(visible.join(''));
    });

    it('ignores parameters that it does not know, and a body', async () => {
      const code = canary('code');
      const answered = await underTest().send({
        path: `${callbackPath}?x=1&code=${code}&redirect_uri=https%3A%2F%2Fevil.example&__proto__=1`,
        headers: [['Content-Length', '4']],
        body: 'code',
      });
      expect(expectToken(answered)).to.equal(underTest().provider.tokenFor(code));
    });

    it('ignores Host, forwarding headers and the host of an absolute-form target', async () => {
      const answered = await underTest().sendBytes(
        `GET http://evil.example${callbackPath}?code=absolute HTTP/1.1\r\nHost: evil.example\r\n` +
          'X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: ftp\r\nConnection: close\r\n\r\n',
      );
      expect(expectToken(answered)).to.equal(underTest().provider.tokenFor('absolute'));
    });

    describe('refuses, before it calls the provider,', () => {
      const refused: Record<string, string> = {
        'no query': '',
        'no code': '?x=1',
        'an empty code': '?code=',
        'a code in PHP brackets': '?code%5B%5D=one',
        'a code repeated under an encoded name': '?code=one&c%6fde=two',
        'a repeated state': '?code=one&state=a&state=a',
        'a code of 4,097 characters': `?code=${'c'.repeat(4097)}`,
        'a byte that is never UTF-8': '?code=one%ff',
        'a refusal of the provider that carries a code': '?error=access_denied&code=one',
      };
      for (const [name, query] of Object.entries(refused)) {
        it(name, async () => {
          expectError(await callback(query), 400);
          expect(underTest().provider.calls).to.deep.equal([]);
        });
      }
    });

    it("never quotes an unknown error code or the provider's free text", async () => {
      const plain = expectError(await callback('?error=access_denied'), 400);
      const described = await callback(
        '?error=access_denied&error_description=%3Cb%3Ehi%3C/b%3E%0d%0aX-Evil:%201&error_uri=http://e.example',
      );
      expect(expectError(described, 400)).to.equal(plain);
      expect(described.headers).not.to.have.property('x-evil');
      const unknown = expectError(await callback('?error=uncommon_error'), 400);
      expect(expectError(await callback('?error=%3Cscript%3E'), 400)).to.equal(unknown);
      expect(expectError(await callback('?error=constructor'), 400)).to.equal(unknown);
      expect(unknown).not.to.contain('uncommon');
    });

    it('sends a code of 4,096 characters', async () => {
      const code = canary('code').padEnd(4096, 'x');
      expectToken(await underTest().logIn(code));
      expect(underTest().provider.credentials('token')).to.deep.equal([code]);
    });

    it('sends a code of any percent-encoded UTF-8 text exactly as it is', async () => {
      const codes = [
        ...Array.from({ length: 128 }, (_, byte) => String.fromCharCode(byte)),
        Array.from({ length: 128 }, (_, byte) => String.fromCharCode(byte)).join(''),
        '\u0080',
        'éß',
        '\ufeffstarts with a byte order mark',
        'contains \ufffd the replacement character',
        'e\u0301 is not normalised',
        '\u2028\u2029\u00a0',
        '\uffff\u{10ffff}',
        '登录 🔑',
        '%41 is not decoded twice',
        'a&client_id=evil#x?y=z',
      ];
      for (const code of codes) {
        underTest().provider.onToken = json({ access_token: 'token' });
        expectToken(await underTest().logIn(code));
      }
      expect(underTest().provider.credentials('token')).to.deep.equal(codes);
    });

    it('answers every raw byte in a code, and adds no header', async () => {
      for (let byte = 0; byte <= 0xff; byte += 1) {
        const raw = String.fromCharCode(byte);
        const answered = await underTest().sendBytes(
          `GET ${callbackPath}?code=raw-${byte}-${raw}X-Evil:1 HTTP/1.1\r\n` +
            'Host: relay.example\r\nConnection: close\r\n\r\n',
        );
        expect(answered.headers, `byte ${byte}`).not.to.have.property('x-evil');
        if (answered.status === 307) expectToken(answered);
        else expectError(answered, 400);
      }
      expectToken(await underTest().logIn());
    });

    describe('answers 400 when the token endpoint answers', () => {
      const token = JSON.stringify({ access_token: canary('token') });
      for (const status of [
        201, 202, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 409, 418, 429, 500, 502, 503, 504,
      ]) {
        it(`${status}, even with a token, and follows no redirect`, async () => {
          const Location = `http://127.0.0.1:${underTest().provider.port}/elsewhere`;
          const body = [204, 304].includes(status) ? '' : token;
          underTest().provider.onToken = answer(status, body, { Location });
          expectError(await callback('?code=one'), 400);
          expect(underTest().provider.calls).to.have.lengthOf(1);
        });
      }
      const bodies: Record<string, string> = {
        'GitHub’s 200 with an error': '{"error":"bad_verification_code","error_description":"x"}',
        'no access_token': '{"token_type":"bearer"}',
        'an empty access_token': '{"access_token":""}',
        'a token only in the prototype': '{"__proto__":{"access_token":"t"}}',
        'JSON nested 100,000 levels deep': '['.repeat(100_000),
      };
      for (const [name, body] of Object.entries(bodies)) {
        it(`200 with ${name}`, async () => {
          underTest().provider.onToken = answer(200, body);
          expectError(await callback('?code=one'), 400);
        });
      }
    });

    it('has a different detail for each condition', async () => {
      const { provider } = underTest();
      const details: string[] = [];
      for (const query of [
        '',
        '?code=one&code=two',
        `?code=${'c'.repeat(4097)}`,
        '?code=%ff',
        '?error=access_denied',
        '?error=server_error',
        '?error=uncommon_error',
      ]) {
        details.push(expectError(await callback(query), 400));
      }
      for (const [behaviour, status] of [
        [answer(500), 400],
        [json({}), 400],
        [reset, 502],
      ] as const) {
        provider.onToken = behaviour;
        details.push(expectError(await callback('?code=one'), status));
      }
      impatient().provider.onToken = silence;
      details.push(expectError(await impatient().logIn(), 504));
      expect(details).to.deep.equal([...new Set(details)]);
    });
  });

  describe('with the token in the fragment', () => {
    const underTest = relayUnderTest({ 'token-delivery': 'fragment' });

    it('encodes the token there', async () => {
      underTest().provider.onToken = json({ access_token: visible.join('') });
      const { hash } = expectRedirect(await underTest().logIn());
      expect(new URLSearchParams(hash.slice(1)).get('access_token')).to.equal(visible.join(''));
    });
  });
});
