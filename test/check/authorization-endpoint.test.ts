import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { answer, html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import { diagnoseHere, redirectUri } from './support/check.ts';
import { itFinds, withProvider } from './support/provider.ts';

const subject = 'authorization endpoint';
const answers = /^answers, but providers often show only in a browser/;
const refused = /refuses the authorization request/;
const status = (code: number) => new RegExp(`refuses the authorization request \\(status ${code}\\)`);
const noPage = /^there is no login page/;
const openIt = new RegExp(
  `^open it in a browser: http://127.*/authorize\\?.*redirect_uri=${encodeURIComponent(redirectUri)}&`,
);
const openLast = new RegExp(
  `^register exactly ${redirectUri} as callback URL; compare client identifier and scope; .*open http`,
);
const correctIt = /^correct --authorize-url \(PROVIDER_AUTHORIZE_URL\)/;

/** Answers with a text that is not an HTML document, as a page. */
const html200 = (text: string) => answer(200, text, { 'Content-Type': 'text/html' });

describe('login-relay check, about the authorization endpoint', () => {
  itFinds('authorize', [subject, 'not_checked', openIt], 'reports it as not checked if the provider …', {
    'redirects to a login page': [redirect('/login?client_id=client-1'), answers],
    'redirects to another host': [redirect('https://accounts.example/login', 303), answers],
    'shows a login page': [html(200, '<h1>Log in</h1>'), answers],
    'shows a login page with scripts and fields that mention errors': [
      html(
        200,
        `<script>const texts = { a: 'redirect_uri is invalid', b: 'unknown client' }</script>
       <form><input type="hidden" name="redirect_uri" value="not valid"></form><p>Log in</p>`,
      ),
      answers,
    ],
  });

  itFinds('authorize', [subject, 'problem', openLast], 'names a refusal …', {
    'with an error page': [html(400, '<p>Invalid parameter: redirect_uri</p>'), status(400)],
    'with another error page': [html(403, 'No.'), status(403)],
    'of an unknown client in a redirect': [redirect('/e?error=unauthorized_client'), /request \(unauthorized_client\)/],
    'with an error code of its own': [
      redirect(`/e?error=${encodeURIComponent('\u001b[31mfree text')}`),
      /request \(other\)/,
    ],
    'with an empty body': [answer(403, '', {}), status(403)],
    'of an endpoint that wants a token': [json({ error: 'invalid_token' }, 401), status(401)],
    'with a status only, which may be that of another address': [
      json({}, 401),
      status(401),
      /; otherwise correct --authorize-url \(PROVIDER_AUTHORIZE_URL\);/,
    ],
    'in a page that is only an error code': [html200('invalid_request'), /request \(invalid_request\)/],
  });

  itFinds('authorize', [subject, 'problem'], 'names only the cause that the provider names: …', {
    'the scope, in a redirect to the relay': [
      redirect(`${redirectUri}?error=invalid_scope&state=x`),
      refused,
      /^correct --scope \(PROVIDER_SCOPE\)$/,
    ],
    'the client, in a page that is only an error code': [
      html200('invalid_client'),
      refused,
      /^correct --client-id \(PROVIDER_CLIENT_ID\)$/,
    ],
    'another error, in a redirect to the relay, which shows that client and callback URL are right': [
      redirect(`${redirectUri}?error=invalid_request`),
      refused,
      /^to see what the provider says, open http:\S+$/,
    ],
  });

  itFinds('authorize', [subject, 'problem', correctIt], 'reports a wrong address if it finds …', {
    'nothing there': [html(404, 'Not found'), noPage],
    'nothing there, and the request repeated': [
      (response, { url }) => html(404, `Nothing at ${url.pathname}${url.search}`)(response),
      noPage,
    ],
    'a refusal of the method': [json({}, 405), noPage],
    'a JSON answer': [json({ issuer: 'x' }), /^the answer is not an HTML page/],
    'a redirect without a usable Location': [redirect('http://['), /usable Location$/],
  });

  itFinds('authorize', [subject, 'warning'], 'only warns if the provider …', {
    'has a problem': [html(502, 'Bad gateway'), /has a problem \(status 502\)/],
  });

  it('does not judge an address that only browsers have to reach', async () => {
    const authorizeUrl = 'https://login.invalid.example/authorize';
    const result = await withProvider({}, (flags) =>
      diagnoseHere({ flags: { ...flags, 'authorize-url': authorizeUrl } }),
    );
    const { verdict, message, fix } = result.finding(subject);
    expect(verdict).to.equal('not_checked');
    expect(message).to.match(/^only browsers have to reach it, and from here it was not reached: /);
    expect(fix).to.match(/^open it in a browser; if that fails, .* The address is https:\S+=S256$/);
    expect(fix).to.contain(` ${authorizeUrl}?`);
    expect(result.code).to.equal(0);
  });

  it('takes the page of a firewall for no answer of the provider', async () => {
    const authorize = answer(403, '<p>Just a moment</p>', { 'Content-Type': 'text/html', 'cf-mitigated': 'challenge' });
    const result = await withProvider({ authorize }, (flags) => diagnoseHere({ flags }));
    expect(result.finding(subject).message).to.match(/lets only browsers in$/);
    expect(result.complaints).to.deep.equal([]);
  });

  it('sends a state as long as in a real login, and says so if only a short state is accepted', async () => {
    const states: string[] = [];
    const authorize: Page = (response, { url }) => {
      const state = url.searchParams.get('state') ?? '';
      states.push(state);
      (state.length > 300 ? html(400, 'Value passed for state is too long') : redirect('/login'))(response);
    };
    const result = await withProvider({ authorize }, (flags) => diagnoseHere({ flags }));
    expect(states.map(({ length }) => length)).to.deep.equal([399, 399, 17]);
    expect(result.complaints).to.have.length(1);
    expect(result.finding(subject).message).to.match(/refuses a state of 399 characters, and accepts a short one/);
  });

  it('shows the whole request to people, but with a short state', async () => {
    await withProvider({}, async (flags, arrivals) => {
      const result = await diagnoseHere({ flags });
      const shown = new URL(/http\S+$/.exec(result.finding(subject).fix ?? '')?.[0] ?? '');
      const [sent] = arrivals.filter(({ url }) => url.pathname === '/authorize');
      const { state, ...shownParameters } = Object.fromEntries(shown.searchParams);
      const { state: _, ...sentParameters } = Object.fromEntries(sent?.url.searchParams ?? []);
      expect(state).to.equal('login-relay-check');
      expect(shownParameters).to.deep.equal(sentParameters);
    });
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

  it('finds no problem if the provider knows one of the two callback URLs of a preset', async () => {
    const authorize: Page = (response, request) => {
      const isKnown = `${request.url}`.includes('github%2Fcallback');
      (isKnown ? redirect('/login') : html(400, 'Invalid redirect_uri'))(response);
    };
    const result = await withProvider({ authorize }, (flags) =>
      diagnoseHere({ flags: { ...flags, provider: 'github' } }),
    );
    expect(result.complaints).to.deep.equal([]);
    expect(result.finding('callback URL').message).to.match(/do not start at \/auth\/provider$/);
    expect(result.finding('authorization endpoint (/auth/github)').verdict).to.equal('not_checked');
    expect(Object.keys(result.report.callbackUrls ?? {})).to.deep.equal(['provider', 'github']);
  });
});
