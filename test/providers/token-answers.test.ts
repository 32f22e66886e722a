import { expect } from 'chai';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectOAuthError } from '../harness/login/oauth-front-end.ts';
import { expectSessionFailure, sessionOf } from '../harness/login/session-page.ts';
import { answer, html, json, type Reply, redirect, truncated } from '../harness/provider/provider-behaviours.ts';
import { startedOnce } from '../harness/system/started-once.ts';
import { fieldsOf, OddProvider } from './support/odd-provider.ts';

const tokens = { access_token: 'AT1', token_type: 'bearer', expires_in: 3600 };
const byteOrderMark = '\uFEFF';

describe('the token endpoint of an odd provider', () => {
  const odd = startedOnce(
    'the provider',
    () => OddProvider.start(),
    (one) => one.stop(),
  );

  /** The answer to a code, to a refresh after it. */
  const answering = (code: Reply, refresh: Reply = code) => ({
    '/token': (response: Parameters<Reply>[0], { body }: { body: string }) =>
      (body.includes('grant_type=refresh_token') ? refresh : code)(response),
  });

  /** Logs in, and refreshes at an endpoint that answers so. */
  async function refreshed(refresh: Reply) {
    await odd().use({ pages: answering(json({ ...tokens, refresh_token: 'RT1' }), refresh) });
    const { refresh_token: token } = fieldsOf(await odd().logIn());
    return { token: `${token}`, answered: await odd().refresh(`${token}`) };
  }

  for (const status of [200, 201, 202, 203]) {
    it(`may answer a code with ${status}`, async () => {
      await odd().use({ pages: answering(json(tokens, status)) });
      expect(fieldsOf(await odd().logIn())).to.include({ access_token: 'AT1' });
      await odd().use({ pages: answering(json(tokens, status)), delivery: 'session' });
      expect(sessionOf(await (await odd().session()).describe())).to.have.property('expires_in');
    });

    it(`may answer a refresh with ${status}, and its new refresh token is kept`, async () => {
      const { answered } = await refreshed(json({ ...tokens, access_token: 'AT2', refresh_token: 'RT2' }, status));
      const next = fieldsOf(answered);
      expect(next).to.include({ access_token: 'AT2' });
      // The result of a refresh is repeated for a minute.
      odd().ahead = 61_000;
      odd().pages = answering(json({ ...tokens, access_token: 'AT3' }, status));
      expect(fieldsOf(await odd().refresh(`${next['refresh_token']}`))).to.include({ access_token: 'AT3' });
      expect(odd().asked('/token').at(-1)?.form.get('refresh_token')).to.equal('RT2');
    });
  }

  for (const delivery of ['query', 'fragment']) {
    it(`may answer with 201 if a file describes the provider, and the token is in the ${delivery}`, async () => {
      const setting = { delivery: 'query', frontEnd: `token-delivery: ${delivery}` } as const;
      await odd().use({ ...setting, pages: answering(json(tokens, 201)) });
      expect(expectRedirect(await odd().callback()).href).to.contain('access_token=AT1');
    });

    it(`must answer with 200 and JSON in the contract, which says what to do: ${delivery}`, async () => {
      await odd().useFlags({ tokenDelivery: delivery, tokenRequest: 'body' }, answering(json(tokens, 201)));
      const detail = expectError(await odd().callback(), 400);
      expect(detail).to.match(/^Token retrieval failed: .* status 201, .*only 200 .* configuration file/);
      odd().pages = answering(truncated(201, JSON.stringify(tokens)));
      expectError(await odd().callback(), 400);
      odd().pages = answering(answer(200, 'access_token=AT1&token_type=bearer', {}));
      expect(expectError(await odd().callback(), 400)).to.match(/^The access token is empty: .* form, .*only JSON /);
      odd().pages = answering(json(tokens, 200));
      expect(expectRedirect(await odd().callback()).href).to.contain('access_token=AT1');
    });
  }

  for (const [name, reply] of Object.entries({
    '201 without a token': json({ token_type: 'bearer' }, 201),
    '204': answer(204, '', {}),
    '200 with an array': json([tokens]),
    'a page with a token in its text': html(200, 'access_token=AT1&token_type=bearer'),
    'a sentence with a token': answer(200, 'your access_token=AT1&token_type=bearer', {}),
    'a form that has two tokens': answer(200, 'access_token=AT1&access_token=AT2', {}),
    'a form that hides a second token': answer(200, 'access_token=AT1&%61ccess_token=AT2', {}),
  })) {
    it(`gives no token with ${name}`, async () => {
      await odd().use({ pages: answering(reply) });
      expectOAuthError(await odd().logIn(), 'server_error', 502);
      const { token, answered } = await refreshed(reply);
      expectOAuthError(answered, 'server_error', 502);
      // The login goes on: its refresh token has not been refused.
      odd().pages = answering(json(tokens));
      expect(fieldsOf(await odd().refresh(token))).to.include({ access_token: 'AT1' });
    });
  }

  it('gives no token with a redirect, or with a status of an error', async () => {
    for (const reply of [redirect('https://elsewhere.example/'), json(tokens, 302), json(tokens, 403)]) {
      await odd().use({ pages: answering(reply) });
      expectOAuthError(await odd().logIn(), 'invalid_grant');
    }
  });

  it('must not break off, whatever its status of success is', async () => {
    const broken = truncated(201, JSON.stringify(tokens));
    await odd().use({ pages: answering(broken) });
    expectOAuthError(await odd().logIn(), 'temporarily_unavailable', 502);
    expectOAuthError((await refreshed(broken)).answered, 'temporarily_unavailable', 502);
  });

  for (const [name, reply] of Object.entries({
    'JSON with a byte order mark': answer(200, byteOrderMark + JSON.stringify(tokens)),
    'JSON that is called a page': answer(200, JSON.stringify(tokens), { 'Content-Type': 'text/html' }),
    'a form': answer(200, 'access_token=AT1&expires_in=3600&token_type=bearer', {
      'Content-Type': 'application/x-www-form-urlencoded',
    }),
    'a form that is called a text, with a line break at its end': answer(
      200,
      'access_token=AT1&expires_in=3600&scope=a+b%20c&token_type=bearer\r\n',
      { 'Content-Type': 'text/plain' },
    ),
  })) {
    it(`may answer with ${name}`, async () => {
      await odd().use({ pages: answering(reply) });
      expect(fieldsOf(await odd().logIn())).to.include({ access_token: 'AT1', expires_in: 3600 });
      expect(fieldsOf((await refreshed(reply)).answered)).to.include({ access_token: 'AT1', expires_in: 3600 });
    });
  }

  const refusals: Readonly<Record<string, Reply>> = {
    "Fitbit's list of errors": json({ errors: [{ errorType: 'invalid_grant', message: 'x' }], success: false }, 400),
    'the same with 401': json({ errors: [{ errorType: 'invalid_grant', message: 'x' }], success: false }, 401),
    'a number and a message': json({ code: 40001, msg: 'refresh token expired' }, 400),
    'the same with 200': json({ code: 40001, msg: 'refresh token expired' }),
    'a list of errors with 200': json({ errors: [{ errorType: 'expired', message: 'x' }], success: false }),
    'an object of errors': json({ error: { type: 'OAuthException', code: 190 } }, 400),
    'an object without fields': json({}, 401),
    'a byte order mark': answer(400, `${byteOrderMark}{"error":"invalid_grant"}`),
    'a form': answer(400, 'error=invalid_grant&error_description=expired', {}),
  };
  for (const [name, reply] of Object.entries(refusals)) {
    it(`refuses a refresh with ${name}`, async () => {
      expectOAuthError((await refreshed(reply)).answered, 'invalid_grant');
      await odd().use({ delivery: 'session', pages: answering(json({ ...tokens, refresh_token: 'RT1' }), reply) });
      const page = await odd().session();
      expectSessionFailure(await page.refresh(), 'session_refused');
    });
  }

  for (const [name, reply] of Object.entries({
    'the page of a firewall': html(400, '<h1>Bad request</h1>'),
    'the page of a login': html(401, '<form>'),
    nothing: answer(400, '', {}),
    '403 and a message': json({ message: 'Forbidden' }, 403),
    'a rate limit': json({ errors: [{ errorType: 'rate_limit' }] }, 429),
  })) {
    it(`does not end a login with ${name}`, async () => {
      const { token, answered } = await refreshed(reply);
      expectOAuthError(answered, 'temporarily_unavailable', 502);
      odd().pages = answering(json(tokens));
      expect(fieldsOf(await odd().refresh(token))).to.include({ access_token: 'AT1' });
    });
  }

  it('blames the relay, in whatever shape it says so', async () => {
    for (const reply of [
      json({ error: 'invalid_client' }, 401),
      json({ errors: [{ errorType: 'invalid_client' }], success: false }, 401),
      json({ errorCode: 'invalid_client', errorSummary: 'no' }, 401),
      json({ error: { code: 'invalid_client' } }, 400),
    ]) {
      const { answered } = await refreshed(reply);
      expect(`${answered.body}`).to.contain('client identifier or secret of this relay');
      expectOAuthError(answered, 'server_error', answered.status);
    }
  });

  it('has its codes of other shapes in the log, and nothing of its texts', async () => {
    await refreshed(json({ errors: [{ errorType: 'invalid_grant', message: 'text-canary' }] }, 400));
    const log = odd().lines.join('');
    expect(log).to.contain('invalid_grant').and.not.contain('text-canary').and.not.contain('secret-canary');
  });
});
