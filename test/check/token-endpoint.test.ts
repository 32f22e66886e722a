import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { answer, html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import { clientSecret, diagnoseHere } from './support/check.ts';
import { diagnoseWith, itFinds, knowingTheClient, withProvider } from './support/provider.ts';

const subject = 'token endpoint';
const clientRefused = /does not accept the client identifier with this client secret/;
const secretRefused = /does not accept the client secret$/;
const clientUnknown = /does not know the client identifier$/;
const redirectUriRefused = /does not accept the redirect URI/;
const accepted = /^accepts client identifier and secret/;
const unsaid =
  /^the answers do not say whether client identifier, secret and --token-request \(PROVIDER_TOKEN_REQUEST\) are right$/;
const tryIt = /^try a login$/;
const otherAddress = /^correct --token-url \(PROVIDER_TOKEN_URL\)/;

/** Answers 200 with an error, form-encoded unless the client accepts JSON. Requires a User-Agent. */
function asGitHub(error: string): Page {
  return (response, arrival) => {
    const { 'user-agent': name, accept } = arrival.headers;
    if (name === undefined) return html(403, 'Request forbidden')(response);
    if (accept === 'application/json') return json({ error })(response);
    response.writeHead(200, { 'Content-Type': 'application/x-www-form-urlencoded' });
    response.end(new URLSearchParams({ error }).toString());
  };
}

const asSlack = (error: string) => json({ ok: false, error });
const asTwitch = (status: number, message: string) => json({ status, message }, status);
const asGitea = (why: string) => json({ error: 'unauthorized_client', error_description: why }, 400);
const clientInvalid = (why?: string) => json({ error: 'invalid_client', error_description: why }, 401);
const codeRefused = json({ error: 'invalid_grant' }, 400);

/** A secret that form-encoding changes. */
const awkwardSecret = `${clientSecret}+/%`;

/** Accepts the client in one form only. Reads Basic either form-decoded or unchanged. */
function takesOnly(wanted: 'body' | 'basic' | 'basic-raw' | 'query' | 'json'): Page {
  return (response, arrival) => {
    const { authorization } = arrival.headers;
    const credentials = Buffer.from(authorization?.split(' ')[1] ?? '', 'base64').toString();
    const basic = credentials.endsWith(awkwardSecret) ? 'basic-raw' : 'basic';
    const isJson = arrival.headers['content-type'] === 'application/json';
    const inBody = isJson ? 'json' : 'body';
    const form = authorization ? basic : arrival.url.search ? 'query' : inBody;
    if (wanted === 'json' && form !== 'json') return json({ error: 'unsupported_media_type' }, 415)(response);
    const answer = form === wanted ? knowingTheClient(codeRefused) : json({ error: 'invalid_client' }, 401);
    answer(response, arrival);
  };
}

/** The findings with this form of the request, and a secret that differs between the forms. */
async function findingWith(form: string, token: Page) {
  const result = await diagnoseWith({ token }, { 'token-request': form }, awkwardSecret);
  return { ...result.finding(subject), code: result.code, complaints: result.complaints };
}

describe('login-relay check, about the token endpoint', () => {
  itFinds('token', [subject, 'ok'], 'recognises that … has accepted the client', {
    'RFC 6749': [knowingTheClient(codeRefused), accepted],
    GitHub: [knowingTheClient(asGitHub('bad_verification_code')), accepted],
    Slack: [knowingTheClient(asSlack('invalid_code')), accepted],
    'Gitea and Forgejo': [knowingTheClient(asGitea('client is not authorized')), accepted],
    Twitch: [knowingTheClient(asTwitch(400, 'Invalid authorization code')), accepted],
  });

  const gitLab =
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.';
  itFinds('token', [subject, 'problem'], 'explains the refusal of the provider: …', {
    'a wrong client, as RFC 6749 reports it': [clientInvalid(), clientRefused],
    'a 401 without an error code': [json({}, 401), clientRefused],
    'wrong credentials at GitHub': [asGitHub('incorrect_client_credentials'), clientRefused],
    'another redirect URI at GitHub': [asGitHub('redirect_uri_mismatch'), redirectUriRefused],
    'a wrong secret at Slack': [asSlack('bad_client_secret'), secretRefused],
    'an unknown client at Slack': [asSlack('invalid_client_id'), clientUnknown],
    'another redirect URI at Slack': [asSlack('bad_redirect_uri'), redirectUriRefused],
    'a wrong secret at Gitea': [asGitea('invalid client secret'), secretRefused],
    'another redirect URI at Gitea': [asGitea('unexpected redirect URI'), redirectUriRefused],
    'an unknown client at GitLab': [clientInvalid(gitLab), clientRefused],
    'a wrong secret at Twitch': [asTwitch(403, 'invalid client secret'), secretRefused],
    'an unknown client at Twitch': [asTwitch(400, 'invalid client'), clientUnknown],
  });

  itFinds('token', [subject, 'problem', otherAddress], 'reports a wrong address if it finds …', {
    'a page': [html(200, 'Welcome'), /HTML page \(status 200\)/],
    'a page with an error': [html(400, 'Bad request'), /HTML page \(status 400\)/],
    'nothing at its address': [html(404, 'Not found'), /nothing at that address .*status 404/],
    'nothing at its address, in JSON': [json({ error: 'Not Found' }, 404), /status 404/],
    'a refusal of the method': [json({}, 405), /status 405/],
    'a redirect': [redirect('https://elsewhere.example/token', 308), /redirects elsewhere/],
    'a token for anyone': [json({ access_token: 'x' }), /gives a token for a made-up code/],
  });

  itFinds('token', [subject, 'warning'], 'only warns if the provider …', {
    'reports an internal problem': [json({}, 503), /has a problem \(status 503\)/],
    'limits the rate': [json({}, 429), /has a problem \(status 429\)/],
  });

  itFinds(
    'token',
    [subject, 'not_checked', tryIt],
    'reports client identifier and secret as not checked if the provider …',
    {
      'gives everyone the same answer': [json({ error: 'something_else' }, 400), unsaid],
      'refuses the request in every form': [json({ error: 'invalid_request' }, 400), unsaid],
      'names every possible cause at once': [
        json(
          {
            error: 'invalid_request',
            error_description: 'appid/redirect uri/code verifier does not match authorization code',
          },
          401,
        ),
        unsaid,
      ],
      'refuses the code of any client': [codeRefused, /^the provider refuses the code first/],
      'refuses it with a form': [
        answer(400, 'error=invalid_grant&error_description=no', {
          'Content-Type': 'application/x-www-form-urlencoded',
        }),
        /^the provider refuses the code first/,
      ],
    },
  );

  const forms = ['query', 'body', 'basic', 'basic-raw', 'json'] as const;
  for (const configured of forms) {
    for (const wanted of forms.filter((form) => form !== 'query' && form !== configured)) {
      it(`reports no problem after its advice is followed: ${wanted}, not ${configured}`, async () => {
        const { code, message, fix } = await findingWith(configured, takesOnly(wanted));
        expect(code).to.equal(1);
        expect(message).to.equal(`the provider does not accept the token request in the form "${configured}"`);
        const advice = /^set --token-request \(PROVIDER_TOKEN_REQUEST\) to (\S+)$/.exec(fix ?? '')?.[1];
        expect(advice).to.equal(wanted);
        expect(await findingWith(wanted, takesOnly(wanted))).to.include({
          verdict: 'ok',
          message: `accepts client identifier and secret in the form "${wanted}"`,
          fix: null,
        });
      });
    }
  }

  it('tries another form if the configured one causes a server error', async () => {
    const { fix } = await findingWith('query', (response, arrival) =>
      (arrival.url.search ? html(500, 'Error') : codeRefused)(response),
    );
    expect(fix).to.match(/ to body$/);
  });

  it('reports no cause if only forms that are not configured are refused', async () => {
    const requestInvalid = json({ error: 'invalid_request' }, 400);
    const { verdict } = await findingWith('body', (response, { headers }) =>
      (headers.authorization ? clientInvalid() : requestInvalid)(response),
    );
    expect(verdict).to.equal('not_checked');
  });

  for (const [name, refusal] of [
    ['a header', json({ code: 'missing_version', message: 'Version header failed validation' }, 400)],
    ['a code in words of its own', json({ error: 'invalid_request', error_description: 'Value was invalid.' }, 400)],
  ] as const) {
    it(`proposes the form in which the provider refuses ${name}, and not the client`, async () => {
      const page: Page = (response, arrival) => (arrival.headers.authorization ? refusal : clientInvalid())(response);
      const { verdict, message, fix } = await findingWith('body', page);
      expect(verdict).to.equal('problem');
      expect(message).to.match(/refuses the client in the form "body", and something else in the form "basic"$/);
      expect(fix).to.match(/^set --token-request .* to basic, .*check --login .*; or correct the secret/);
    });
  }

  it('warns of the query if the provider accepts another form', async () => {
    expect(await findingWith('query', codeRefused)).to.include({
      verdict: 'warning',
      fix: 'set --token-request (PROVIDER_TOKEN_REQUEST) to body',
    });
    expect((await findingWith('body', codeRefused)).complaints).to.deep.equal([]);
  });

  it('never tries the query if it is not configured, because queries end up in logs', async () => {
    const token = clientInvalid();
    await withProvider({ token }, async (flags, arrivals) => {
      await diagnoseHere({ flags });
      const calls = arrivals.filter(({ url }) => url.pathname === '/token');
      expect(calls.map(({ url }) => url.search)).to.deep.equal(['', '', '']);
      const schemes = calls.map(({ headers }) => headers.authorization?.split(' ')[0]);
      expect(schemes).to.deep.equal([undefined, 'Basic', undefined]);
    });
  });

  it('shows no part of an answer that repeats the secret', async () => {
    const echo: Page = (response, arrival) => {
      const { url, headers, body } = arrival;
      const all = `${url.search} ${headers.authorization} ${body} ${clientSecret}`;
      response.writeHead(400, { 'Content-Type': 'application/json', Location: `/${clientSecret}` });
      response.end(JSON.stringify({ error: clientSecret, error_description: all, message: all }));
    };
    for (const way of ['query', 'body', 'basic']) {
      const everywhere = { authorize: echo, token: echo, user: echo, metadata: echo };
      await withProvider(everywhere, async (flags) => {
        const { code, report } = await diagnoseHere({ flags: { ...flags, 'token-request': way } });
        expect(code).to.equal(1);
        expect(JSON.stringify(report)).not.to.contain(clientSecret);
      });
    }
  });

  it('names the source of the secret as the place to correct it', async () => {
    await withProvider({ token: clientInvalid() }, async (flags) => {
      const given = { ...flags, 'client-secret-file': undefined };
      const result = await diagnoseHere({
        flags: given,
        env: { PROVIDER_CLIENT_SECRET: clientSecret },
      });
      expect(result.finding(subject).fix).to.equal(
        'correct the secret in --client-secret (PROVIDER_CLIENT_SECRET), or --client-id (PROVIDER_CLIENT_ID)',
      );
    });
  });
});
