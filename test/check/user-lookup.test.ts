import { expect } from 'chai';
import { answer, html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import { diagnoseIssuer, diagnoseWith, itFinds, metadataWith } from './support/provider.ts';

const subject = 'user lookup';
const refuses = /^refuses a made-up token/;
const correctIt = /^correct --user-url \(PROVIDER_USER_URL\)$/;

describe('login-relay check, about the user lookup', () => {
  itFinds('user', [subject, 'ok'], 'accepts … as the answer to a made-up token', {
    401: [json({ message: 'Bad credentials' }, 401), refuses],
    'a page that asks for a bearer token': [
      answer(401, '<p>Unauthorized</p>', {
        'Content-Type': 'text/html',
        'WWW-Authenticate': 'Bearer realm="x"',
      }),
      refuses,
    ],
  });

  it('accepts a refusal with status 200 if the preset defines it', async () => {
    const user = json({ ok: false, error: 'invalid_auth' });
    const asSlack = await diagnoseWith({ user }, { provider: 'slack' });
    expect(asSlack.finding(subject).verdict).to.equal('ok');
    const asAny = await diagnoseWith({ user });
    expect(asAny.finding(subject).verdict).to.equal('problem');
  });

  itFinds('user', [subject, 'problem', correctIt], 'reports a wrong address if it finds …', {
    'a page': [html(200, 'Welcome'), /HTML page \(status 200\)/],
    'a login page': [html(401, 'Log in'), /HTML page \(status 401\)/],
    'nothing at its address': [json({}, 404), /status 404/],
    'a redirect': [redirect('/login'), /redirects elsewhere/],
    'something other than an object': [json([]), /without a JSON object/],
    'a record for a made-up token': [json({ login: 'x' }), /accepts a made-up token/],
  });

  itFinds('user', [subject, 'warning'], 'only warns if the provider …', {
    'has a problem': [json({}, 500), /has a problem \(status 500\)/],
  });

  itFinds('user', [subject, 'problem'], 'recognises …', {
    'signed user info': [
      answer(200, 'a.b.c', { 'Content-Type': 'application/jwt; charset=utf-8' }),
      /^signs or encrypts .*application\/jwt/,
      /plain JSON, or set .*user-from.* to id-token/,
    ],
  });

  itFinds(
    'user',
    [subject, 'not_checked', /check --login; .*request-headers.* or --user-request/],
    'does not take … for the refusal of a token',
    {
      'a 400, which may want a header': [json({ code: 'missing_version' }, 400), /with status 400, which may refuse/],
      'a 403': [json({}, 403), /with status 403/],
      'a 422': [json({}, 422), /with status 422/],
    },
  );

  itFinds(
    'user',
    [subject, 'problem', /^set --user-request \(PROVIDER_USER_REQUEST\) to post, or correct --user-url/],
    'names the method of …',
    {
      'an endpoint that takes no GET': [json({}, 405), /status 405/],
    },
  );

  it('names the setting that the address comes from', async () => {
    const user = json({}, 404);
    const result = await diagnoseIssuer(metadataWith(), undefined, { user });
    expect(result.finding(subject).fix).to.equal(
      'correct --issuer (PROVIDER_ISSUER), or give --user-url (PROVIDER_USER_URL)',
    );
  });
});
