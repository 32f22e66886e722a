import { expect } from 'chai';
import { diagnoseHere, redirectUri } from './support/check.ts';
import { html, json, type Respond, redirect, withFakeProvider } from './support/fake-provider.ts';

const subject = 'authorization endpoint';
const redirectUriRefused = /does not accept the redirect URI/;
const clientUnknown = /does not know the client identifier/;
const scopeRefused = /refuses the scope/;
const refused = /refuses the authorization request/;

/** The address of Google's error page for an error. */
function googleError(code: string): string {
  const record = Buffer.concat([
    Buffer.from([0x0a, code.length]),
    Buffer.from(code),
    Buffer.from([0x12, 5]),
    Buffer.from('words'),
  ]);
  return `/signin/oauth/error?authError=${record.toString('base64url')}&flowName=GeneralOAuthFlow`;
}

describe('login-relay check, about the authorization endpoint', () => {
  const healthy: Record<string, Respond> = {
    'redirects to a login page': redirect('/login?client_id=client-1'),
    'redirects to another host': redirect('https://accounts.example/login', 303),
    'shows a login page': html(200, '<h1>Log in</h1>'),
    'shows a login page with scripts and fields that speak of errors': html(
      200,
      `<script>const texts = { a: 'redirect_uri is invalid', b: 'unknown client' }</script>
       <form><input type="hidden" name="redirect_uri" value="not valid"></form><p>Log in</p>`,
    ),
  };
  for (const [name, authorize] of Object.entries(healthy)) {
    it(`is content where the provider ${name}`, async () => {
      await withFakeProvider({ authorize }, async (flags) => {
        const { code, complaints } = await diagnoseHere({ flags });
        expect({ code, complaints }).to.deep.equal({ code: 0, complaints: [] });
      });
    });
  }

  const refusals: Record<string, [authorize: Respond, message: RegExp]> = {
    'another redirect URI on a page': [
      html(400, '<p>Invalid parameter: redirect_uri</p>'),
      redirectUriRefused,
    ],
    'another redirect URI on a page with status 200': [
      html(200, '<p>The redirect URI in the request does not match the registered ones</p>'),
      redirectUriRefused,
    ],
    'another callback URL on a page': [html(403, 'Callback URL mismatch.'), redirectUriRefused],
    'another redirect URI in JSON': [
      json(400, { status: 400, message: 'Parameter redirect_uri does not match registered URI' }),
      redirectUriRefused,
    ],
    'another redirect URI on the error page of Google': [
      redirect(googleError('redirect_uri_mismatch')),
      redirectUriRefused,
    ],
    'an unknown client on the error page of Google': [
      redirect(googleError('invalid_client')),
      clientUnknown,
    ],
    'an unknown client on a page': [html(400, '<p>Client not found.</p>'), clientUnknown],
    'an unknown client in a redirect': [redirect('/e?error=unauthorized_client'), clientUnknown],
    'a scope in a redirect to the relay': [
      redirect(`${redirectUri}?error=invalid_scope&state=x`),
      scopeRefused,
    ],
    'something else in a redirect to the relay': [
      redirect(`${redirectUri}?error=invalid_request&error_description=<b>words</b>`),
      /refuses the authorization request \(invalid_request\)/,
    ],
    'something else in words of its own': [
      redirect(`${redirectUri}?error=${encodeURIComponent('\u001b[31mfree text')}`),
      /refuses the authorization request \(unknown error\)/,
    ],
    'something else on a page': [html(403, 'No.'), refused],
  };
  for (const [name, [authorize, message]] of Object.entries(refusals)) {
    it(`names a refusal of ${name}`, async () => {
      await withFakeProvider({ authorize }, async (flags) => {
        const result = await diagnoseHere({ flags });
        expect(result.code).to.equal(1);
        expect(result.complaints).to.have.length(1);
        expect(result.finding(subject)).to.include({ verdict: 'problem' });
        expect(result.finding(subject).message).to.match(message);
      });
    });
  }

  const wrongKinds: Record<string, Respond> = {
    'nothing there': html(404, 'Not found'),
    'nothing there, and the request repeated': (response, { url }) =>
      html(404, `Nothing at ${url.pathname}${url.search}`)(response, {
        method: 'GET',
        url,
        headers: {},
        body: '',
      }),
    'a refusal of the method': json(405, {}),
    'an endpoint that wants a token': json(401, { error: 'invalid_token' }),
    'an answer for programs': json(200, { issuer: 'x' }),
    'a redirect to nowhere': redirect('http://['),
  };
  for (const [name, authorize] of Object.entries(wrongKinds)) {
    it(`names the address as wrong where it finds ${name}`, async () => {
      await withFakeProvider({ authorize }, async (flags) => {
        const result = await diagnoseHere({ flags });
        expect(result.code).to.equal(1);
        expect(result.finding(subject)).to.include({ verdict: 'problem' });
        expect(result.finding(subject).mend).to.match(
          /^correct --authorize-url \(PROVIDER_AUTHORIZE_URL\)/,
        );
      });
    });
  }

  it('only warns where the provider is in trouble', async () => {
    await withFakeProvider({ authorize: html(502, 'Bad gateway') }, async (flags) => {
      const result = await diagnoseHere({ flags });
      expect(result.code).to.equal(0);
      expect(result.finding(subject)).to.include({ verdict: 'warning' });
    });
  });

  it('sends the request that a login would send', async () => {
    await withFakeProvider({}, async (flags, arrivals) => {
      await diagnoseHere({ flags: { ...flags, scope: 'read more' } });
      const request = arrivals.find(({ url }) => url.pathname === '/authorize');
      expect(Object.fromEntries(request?.url.searchParams ?? [])).to.include({
        response_type: 'code',
        client_id: 'client-1',
        redirect_uri: redirectUri,
        scope: 'read more',
        code_challenge_method: 'S256',
      });
    });
  });
});
