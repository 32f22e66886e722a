import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import { diagnoseHere } from './support/check.ts';
import { diagnoseWith, metadataWith, withProvider } from './support/provider.ts';

const subject = 'user lookup';

describe('login-relay check, about the user lookup', () => {
  const healthy: Record<string, Page> = {
    401: json({ message: 'Bad credentials' }, 401),
    403: json({}, 403),
    'a page that asks for a bearer token': (response) => {
      response.writeHead(401, {
        'Content-Type': 'text/html',
        'WWW-Authenticate': 'Bearer realm="x"',
      });
      response.end('<p>Unauthorized</p>');
    },
  };
  for (const [name, user] of Object.entries(healthy)) {
    it(`accepts ${name} as the answer to a made-up token`, async () => {
      const { code, complaints } = await diagnoseWith({ user });
      expect({ code, complaints }).to.deep.equal({ code: 0, complaints: [] });
    });
  }

  it('accepts a refusal with status 200 if the preset defines it', async () => {
    await withProvider({ user: json({ ok: false, error: 'invalid_auth' }) }, async (flags) => {
      const asSlack = await diagnoseHere({ flags: { ...flags, provider: 'slack' } });
      expect(asSlack.finding(subject).verdict).to.equal('ok');
      const asAny = await diagnoseHere({ flags });
      expect(asAny.finding(subject).verdict).to.equal('problem');
    });
  });

  const wrongKinds: Record<string, [user: Page, message: RegExp]> = {
    'a page': [html(200, 'Welcome'), /HTML page \(status 200\)/],
    'a login page': [html(401, 'Log in'), /HTML page \(status 401\)/],
    'nothing at its address': [json({}, 404), /status 404/],
    'a redirect': [redirect('/login'), /redirects elsewhere/],
    'something other than an object': [json([]), /without a JSON object/],
    'a record for a made-up token': [json({ login: 'x' }), /accepts a made-up token/],
  };
  for (const [name, [user, message]] of Object.entries(wrongKinds)) {
    it(`reports a wrong address if it finds ${name}`, async () => {
      const result = await diagnoseWith({ user });
      expect(result.code).to.equal(1);
      expect(result.complaints).to.have.length(1);
      expect(result.finding(subject)).to.include({
        verdict: 'problem',
        fix: 'correct --user-url (PROVIDER_USER_URL)',
      });
      expect(result.finding(subject).message).to.match(message);
    });
  }

  it('only warns if the provider has a problem', async () => {
    const result = await diagnoseWith({ user: json({}, 500) });
    expect(result.code).to.equal(0);
    expect(result.finding(subject)).to.include({ verdict: 'warning' });
  });

  it('recognises signed user info', async () => {
    const user: Page = (response) => {
      response.writeHead(200, { 'Content-Type': 'application/jwt; charset=utf-8' }).end('a.b.c');
    };
    const result = await diagnoseWith({ user });
    expect(result.complaints).to.have.length(1);
    expect(result.finding(subject).message).to.match(/^signs or encrypts .*application\/jwt/);
    expect(result.finding(subject).fix).to.match(/plain JSON$/);
  });

  it('names the setting that the address comes from', async () => {
    const metadata = metadataWith(() => ({}));
    await withProvider({ metadata, user: json({}, 404) }, async (_flags, _arrivals, issuer) => {
      const result = await diagnoseHere({ flags: { issuer } });
      expect(result.finding(subject).fix).to.equal(
        'correct --issuer (PROVIDER_ISSUER), or give --user-url (PROVIDER_USER_URL)',
      );
    });
  });
});
