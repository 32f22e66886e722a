import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { send } from '../harness/client/http-client.ts';
import { expectError } from '../harness/expect/expectations.ts';
import { encoded, oauthStart } from '../harness/login/oauth-front-end.ts';
import { sessionOf } from '../harness/login/session-page.ts';
import { answer, json } from '../harness/provider/provider-behaviours.ts';
import { startedOnce } from '../harness/system/started-once.ts';
import { fieldsOf, OddProvider } from './support/odd-provider.ts';

const token = { access_token: 'AT1', token_type: 'bearer' };
const gzipped = (value: object) =>
  answer(200, gzipSync(JSON.stringify(value)), { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });

describe('a provider without a preset, as people report it', () => {
  const odd = startedOnce(
    'the provider',
    () => OddProvider.start(),
    (one) => one.stop(),
  );
  const lookUp = () => send(odd().port, { path: '/api/user', headers: [['Authorization', 'Bearer AT1']] });

  for (const [name, more, expected] of [
    ['no token type', { token_type: undefined }, { token_type: 'bearer' }],
    ['an end as a text', { expires_in: '3600' }, { expires_in: 3600 }],
    ['an end that is no number', { expires_in: '3600abc' }, {}],
    ['an end before the beginning', { expires_in: -1 }, {}],
    ['an end of 0, for a token that never ends', { expires_in: 0 }, {}],
    ['an empty scope', { scope: '' }, {}],
  ] as const) {
    it(`gives a token with ${name}`, async () => {
      await odd().use({ pages: { '/token': json({ ...token, ...more }) } });
      const fields = fieldsOf(await odd().logIn());
      expect(fields).to.include({ access_token: 'AT1', ...expected });
      if (!('expires_in' in expected)) expect(fields).not.to.have.property('expires_in');
      await odd().use({ pages: { '/token': json({ ...token, ...more }) }, delivery: 'session' });
      expect(sessionOf(await (await odd().session()).describe()).provider).to.equal('provider');
    });
  }

  it('compresses its answers, although nobody asked for it', async () => {
    await odd().use({ pages: { '/token': gzipped(token), '/user': gzipped({ id: 7, login: 'ada' }) } });
    expect(fieldsOf(await odd().logIn())).to.include({ access_token: 'AT1' });
    expect(fieldsOf(await lookUp())).to.deep.equal({ id: 7, login: 'ada' });
  });

  it('wants the client identifier under another name, in addition or instead', async () => {
    const lines = ['authorize-params: client_key=client-1', 'token-params: client_key=client-1'];
    await odd().use({ lines });
    const started = await odd().startedAt(`?${encoded(oauthStart().parameters)}`);
    expect(started.searchParams.get('client_key')).to.equal('client-1');
    await odd().logIn();
    expect(odd().asked('/token').at(-1)?.form.get('client_key')).to.equal('client-1');
  });

  it('has a query in each of its URLs, which stays', async () => {
    const lines = ['token-request: body', 'refresh-url: P/token?p=refresh', 'revocation-url: P/revoke?p=policy'];
    await odd().use({ lines });
    const { refresh_token } = fieldsOf(await odd().logIn());
    odd().ahead = 3_601_000;
    await odd().refresh(`${refresh_token}`);
    expect(
      odd()
        .asked('/token')
        .map(({ url }) => url.search),
    ).to.deep.equal(['', '?p=refresh']);
  });

  it('answers a lookup with a list of one record, or with bytes that are not UTF-8, and then nobody is let in', async () => {
    const frontEnd = "allow: { users: ['j\u00f6rg'] }";
    for (const record of [
      json([{ sub: 'j\u00f6rg' }]),
      answer(200, Buffer.from('{"sub":"j\u00f6rg"}', 'latin1'), {}),
    ]) {
      await odd().use({ lines: ['user-id: sub'], pages: { '/user': record }, frontEnd });
      expect((await odd().logIn()).status).to.equal(502);
    }
    await odd().use({ lines: ['user-id: sub'], pages: { '/user': json({ sub: 'j\u00f6rg' }) }, frontEnd });
    expect((await odd().logIn()).status).to.equal(200);
  });

  it('says when it has verified an address', async () => {
    const lines = ['user-id: id', 'user-email-verified: email_verified_at'];
    for (const [at, isVerified] of [
      ['2024-02-29T10:00:00.000000Z', true],
      ['2024-02-29 10:00:00', true],
      ['2024-02-29', true],
      [null, false],
      ['', false],
      ['never', false],
      ['0000-00-00 00:00:00', false],
      ['2024-02-29 pending', false],
    ] as const) {
      const pages = { '/user': json({ id: 7, email: 'ada@example.com', email_verified_at: at }) };
      await odd().use({ lines, pages, frontEnd: 'allow: { email-domains: [example.com] }' });
      expect((await odd().logIn()).status, `${at}`).to.equal(isVerified ? 200 : 400);
    }
  });

  it('signs its user records, and then the ID token can say who a person is', async () => {
    const pages = { '/user': answer(200, 'a.b.c', { 'Content-Type': 'application/jwt' }) };
    await odd().use({ pages });
    const detail = expectError(await lookUp(), 502);
    expect(detail).to.contain('signs or encrypts');
  });

  it('answers with 200 and its own error, which is not a person', async () => {
    const pages = { '/user': json({ code: 99991663, msg: 'invalid access token' }) };
    await odd().use({ lines: ['user-id: data.open_id'], pages, frontEnd: 'allow: { users: [ou_1] }' });
    expect((await odd().logIn()).status).to.equal(400);
    expect(odd().lines.join('')).to.contain('data.open_id');
  });
});
