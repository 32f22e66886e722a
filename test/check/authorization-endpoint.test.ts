import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { answer, html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import type { Flags } from '../harness/relay/relay-process.ts';
import { diagnoseHere, type Finding, redirectUri } from './support/check.ts';
import { diagnoseWith, withProvider } from './support/provider.ts';

const subject = 'authorization endpoint';
const refused = /refuses the authorization request/;

/** Answers with a text that is not an HTML document, as a page. */
const html200 = (text: string) => answer(200, text, { 'Content-Type': 'text/html' });

/** Runs the check. It must find exactly one problem, at the authorization endpoint. */
async function onlyProblem(flags: Flags): Promise<Finding> {
  const result = await diagnoseHere({ flags });
  expect(result.code).to.equal(1);
  expect(result.complaints).to.have.length(1);
  return result.finding(subject);
}

describe('login-relay check, about the authorization endpoint', () => {
  const healthy: Record<string, Page> = {
    'redirects to a login page': redirect('/login?client_id=client-1'),
    'redirects to another host': redirect('https://accounts.example/login', 303),
    'shows a login page': html(200, '<h1>Log in</h1>'),
    'shows a login page with scripts and fields that mention errors': html(
      200,
      `<script>const texts = { a: 'redirect_uri is invalid', b: 'unknown client' }</script>
       <form><input type="hidden" name="redirect_uri" value="not valid"></form><p>Log in</p>`,
    ),
  };
  for (const [name, authorize] of Object.entries(healthy)) {
    it(`reports it as not checked if the provider ${name}`, async () => {
      await withProvider({ authorize }, async (flags, _arrivals, address) => {
        const result = await diagnoseHere({ flags });
        expect(result.code).to.equal(0);
        expect(result.complaints).to.deep.equal([]);
        const { verdict, fix } = result.finding(subject);
        expect(verdict).to.equal('not_checked');
        const [, url = ''] = /^open it in a browser: (.*)$/.exec(fix ?? '') ?? [];
        expect(url).to.contain(`${address}/authorize?`);
        expect(new URL(url).searchParams.get('redirect_uri')).to.equal(redirectUri);
      });
    });
  }

  const refusals: Record<string, [authorize: Page, message: RegExp]> = {
    'with an error page': [html(400, '<p>Invalid parameter: redirect_uri</p>'), /\(status 400\)/],
    'with another error page': [html(403, 'No.'), /\(status 403\)/],
    'of an unknown client in a redirect': [
      redirect('/e?error=unauthorized_client'),
      /\(unauthorized_client\)/,
    ],
    'with an error code of its own': [
      redirect(`/e?error=${encodeURIComponent('\u001b[31mfree text')}`),
      /\(other\)/,
    ],
    'with an empty body': [answer(403, '', {}), /\(status 403\)/],
    'of an endpoint that wants a token': [json({ error: 'invalid_token' }, 401), /\(status 401\)/],
    'in a page that is only an error code': [html200('invalid_request'), /\(invalid_request\)/],
  };
  for (const [name, [authorize, message]] of Object.entries(refusals)) {
    it(`names a refusal ${name}`, async () => {
      const result = await diagnoseWith({ authorize });
      expect(result.code).to.equal(1);
      expect(result.complaints).to.have.length(1);
      expect(result.finding(subject)).to.include({ verdict: 'problem' });
      expect(result.finding(subject).message).to.match(refused).and.to.match(message);
      expect(result.finding(subject).fix).to.match(
        /^register exactly (.*) as callback URL; compare client identifier and scope; .*open http/,
      );
      expect(result.finding(subject).fix).to.contain(`register exactly ${redirectUri} `);
    });
  }

  const specific: Record<string, [authorize: Page, fix: RegExp]> = {
    'the scope, in a redirect to the relay': [
      redirect(`${redirectUri}?error=invalid_scope&state=x`),
      /^correct --scope \(PROVIDER_SCOPE\)$/,
    ],
    'the client, in a page that is only an error code': [
      html200('invalid_client'),
      /^correct --client-id \(PROVIDER_CLIENT_ID\)$/,
    ],
    'another error, in a redirect to the relay, which shows that client and callback URL are right':
      [
        redirect(`${redirectUri}?error=invalid_request`),
        /^to see what the provider says, open http:\S+$/,
      ],
  };
  for (const [name, [authorize, fix]] of Object.entries(specific)) {
    it(`names only the cause that the provider names: ${name}`, async () => {
      await withProvider({ authorize }, async (flags) => {
        const finding = await onlyProblem(flags);
        expect(finding.message).to.match(refused);
        expect(finding.fix).to.match(fix);
      });
    });
  }

  it('names the address too if the provider refuses with a status only', async () => {
    await withProvider({ authorize: json({}, 401) }, async (flags) => {
      const finding = await onlyProblem(flags);
      expect(finding.fix).to.contain(
        '; otherwise correct --authorize-url (PROVIDER_AUTHORIZE_URL);',
      );
    });
  });

  const wrongKinds: Record<string, Page> = {
    'nothing there': html(404, 'Not found'),
    'nothing there, and the request repeated': (response, { url }) =>
      html(404, `Nothing at ${url.pathname}${url.search}`)(response),
    'a refusal of the method': json({}, 405),
    'a JSON answer': json({ issuer: 'x' }),
    'a redirect without a usable Location': redirect('http://['),
  };
  for (const [name, authorize] of Object.entries(wrongKinds)) {
    it(`reports a wrong address if it finds ${name}`, async () => {
      const result = await diagnoseWith({ authorize });
      expect(result.code).to.equal(1);
      expect(result.finding(subject)).to.include({ verdict: 'problem' });
      expect(result.finding(subject).fix).to.match(
        /^correct --authorize-url \(PROVIDER_AUTHORIZE_URL\)/,
      );
    });
  }

  it('only warns if the provider has a problem', async () => {
    const result = await diagnoseWith({ authorize: html(502, 'Bad gateway') });
    expect(result.code).to.equal(0);
    expect(result.finding(subject)).to.include({ verdict: 'warning' });
  });

  it('sends the request that a login would send', async () => {
    await withProvider({}, async (flags, arrivals) => {
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
