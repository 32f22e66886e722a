import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectUser } from '../harness/expect/expectations.ts';
import { answer, json, reset, silence } from '../harness/provider/provider-behaviours.ts';
import { relayUnderTest, userPath } from '../harness/relay/relay-under-test.ts';

/** Every character that a token may have here: visible ASCII. */
const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i)).join('');

describe('current user', () => {
  const underTest = relayUnderTest();
  const impatient = relayUnderTest({ 'provider-timeout': '0.2' });

  /** A lookup whose header lines are exactly these bytes. */
  async function lookUpRaw(headerLines: string): Promise<Answer> {
    return await underTest().sendBytes(
      `GET ${userPath} HTTP/1.1\r\nHost: relay.example\r\nConnection: close\r\n${headerLines}\r\n\r\n`,
    );
  }

  function expectChallenge(answered: Answer, challenge: string): void {
    expectError(answered, 401);
    expect(answered.headers['www-authenticate']).to.equal(challenge);
  }

  it("answers with the provider's record for the token", async () => {
    const token = canary('token');
    const answered = await underTest().lookUp(`Bearer ${token}`);
    expect(expectUser(answered)).to.deep.equal({
      login: `owner-of-${token}`,
      avatar_url: 'https://pictures.example/1',
      name: null,
      html_url: 'https://profiles.example/1',
    });
    expect(underTest().provider.credentials('user')).to.deep.equal([token]);
  });

  it('asks the provider every time, whatever the client has cached', async () => {
    const headers: [string, string][] = [
      ['Authorization', 'Bearer cached'],
      ['If-None-Match', '*'],
      ['If-Modified-Since', 'Fri, 01 Jan 2100 00:00:00 GMT'],
      ['Range', 'bytes=0-0'],
    ];
    for (let time = 0; time < 3; time += 1) {
      expectUser(await underTest().send({ path: userPath, headers }));
    }
    expect(underTest().provider.credentials('user')).to.deep.equal(['cached', 'cached', 'cached']);
  });

  it("passes none of the provider's headers on", async () => {
    underTest().provider.onUser = answer(200, '{"login":"a"}', {
      'Content-Type': 'text/html',
      'Set-Cookie': 'session=1',
      'X-Provider': 'p',
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'public, max-age=3600',
      Link: '<https://provider.example>; rel="next"',
      ETag: '"1"',
    });
    const answered = await underTest().lookUp();
    expect(expectUser(answered)).to.deep.equal({ login: 'a' });
    expect(answered.headers).not.to.have.any.keys(
      'set-cookie',
      'x-provider',
      'access-control-allow-origin',
      'link',
      'etag',
    );
  });

  describe('takes the second space-separated part of Authorization,', () => {
    const accepted: Record<string, [authorization: string, token: string, field?: string]> = {
      'whatever the scheme': ['token one', 'one'],
      'even if the scheme is Basic': ['Basic one', 'one'],
      'even if the scheme is not valid': ['"?/ one', 'one'],
      'with spaces around and between, and nothing after it': ['   Bearer   one two  ', 'one'],
      'of every visible character': [`Bearer ${visible}`, visible],
      'under any spelling of the header name': ['Bearer one', 'one', 'aUTHORIZATION:'],
      'of 4,096 characters': [`Bearer ${'t'.repeat(4096)}`, 't'.repeat(4096)],
    };
    for (const [name, [authorization, token, field = 'Authorization: ']] of Object.entries(accepted)) {
      it(name, async () => {
        expectUser(await lookUpRaw(field + authorization));
        expect(underTest().provider.credentials('user')).to.deep.equal([token]);
      });
    }
  });

  describe('asks for credentials, without calling the provider, when there is', () => {
    const refused: Record<string, string> = {
      'no Authorization header': 'X-Other: Bearer one',
      'an empty one': 'Authorization:',
      'a scheme alone': 'Authorization: Bearer',
      'a token in a cookie': 'Cookie: access_token=one',
      'a Proxy-Authorization': 'Proxy-Authorization: Bearer one',
      'the password of a gate': `Authorization: Basic ${btoa(`ada:${canary('secret')}`)}`,
      'the ticket of an intranet': `Authorization: Negotiate ${canary('secret')}`,
    };
    for (const [name, headerLines] of Object.entries(refused)) {
      it(name, async () => {
        expectChallenge(await lookUpRaw(headerLines), 'Bearer');
        expect(underTest().provider.calls).to.deep.equal([]);
      });
    }

    it('a token in the query', async () => {
      expectChallenge(await underTest().get(`${userPath}?access_token=one`), 'Bearer');
      expect(underTest().provider.calls).to.deep.equal([]);
    });
  });

  it('answers every raw byte in Authorization, and adds no header', async () => {
    for (let byte = 0; byte <= 0xff; byte += 1) {
      if (byte >= 0x21 && byte <= 0x7e) continue;
      const raw = String.fromCharCode(byte);
      const answered = await lookUpRaw(`Authorization: Bearer a${raw}X-Evil: 1`);
      expect(answered.headers, `byte ${byte}`).not.to.have.property('x-evil');
      // A space ends the token; every other byte is refused.
      if (raw === ' ') expectUser(answered);
      else expect(answered.status, `byte ${byte}`).to.be.oneOf([400, 401]);
      if (answered.status >= 400) expectError(answered, answered.status);
    }
    expect(underTest().provider.credentials('user')).to.deep.equal(['a']);
  });

  it('refuses two Authorization headers, equal or not', async () => {
    const details = [
      expectError(await lookUpRaw('Authorization: Bearer a\r\nAuthorization: Bearer b'), 400),
      expectError(await lookUpRaw('Authorization: Bearer a\r\nauthorization: Bearer a'), 400),
    ];
    expect(details[0]).to.equal(details[1]);
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('answers 431 for an Authorization of 16 KB', async () => {
    expectError(await lookUpRaw(`Authorization: Bearer ${'t'.repeat(16 * 1024)}`), 431);
    expect(underTest().provider.calls).to.deep.equal([]);
    expectUser(await underTest().lookUp());
  });

  it('accepts headers named like properties of objects', async () => {
    const lines = ['__proto__: x', 'constructor: y', 'toString: z', 'Authorization: Bearer one'];
    expectUser(await lookUpRaw(lines.join('\r\n')));
  });

  describe('answers 401 when the user lookup answers', () => {
    const record = JSON.stringify({ login: 'a' });
    for (const status of [
      201, 202, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 409, 418, 429, 500, 502, 503, 504,
    ]) {
      it(`${status}, even with a record, and follows no redirect`, async () => {
        const Location = `http://127.0.0.1:${underTest().provider.port}/elsewhere`;
        const body = [204, 304].includes(status) ? '' : record;
        underTest().provider.onUser = answer(status, body, { Location });
        const challenge = status === 401 ? 'Bearer error="invalid_token"' : 'Bearer';
        expectChallenge(await underTest().lookUp(), challenge);
        expect(underTest().provider.calls).to.have.lengthOf(1);
      });
    }
  });

  describe('answers 502 when the user lookup answers 200 with', () => {
    const bodies: Record<string, string> = {
      nothing: '',
      'an array': '[{"login":"a"}]',
      HTML: '<!doctype html><title>login</title>',
      'objects nested 100,000 levels deep': '{"a":'.repeat(100_000),
    };
    for (const [name, body] of Object.entries(bodies)) {
      it(name, async () => {
        underTest().provider.onUser = answer(200, body);
        const answered = await underTest().lookUp();
        expectError(answered, 502);
        expect(answered.headers).not.to.have.property('www-authenticate');
      });
    }
  });

  it('has a different detail for each condition', async () => {
    const { provider } = underTest();
    const details = [
      expectError(await underTest().get(userPath), 401),
      expectError(await lookUpRaw('Authorization: Bearer \xff'), 401),
      expectError(await lookUpRaw('Authorization: Bearer a\r\nAuthorization: Bearer b'), 400),
    ];
    for (const status of [401, 403, 429, 500]) {
      provider.onUser = answer(status, '{}');
      const detail = expectError(await underTest().lookUp(), 401);
      if (status !== 401) expect(detail).not.to.match(/log in/i);
      details.push(detail);
    }
    for (const behaviour of [json([]), reset]) {
      provider.onUser = behaviour;
      details.push(expectError(await underTest().lookUp(), 502));
    }
    impatient().provider.onUser = silence;
    details.push(expectError(await impatient().lookUp(), 504));
    expect(details).to.deep.equal([...new Set(details)]);
  });
});
