import { expect } from 'chai';
import type {
  DocumentedProvider,
  Reply,
  UpstreamRequest,
} from '../harness/provider/fake-provider.ts';
import { redirectUri } from '../harness/relay/relay-under-test.ts';
import { discord } from './fakes/discord.ts';
import { github } from './fakes/github.ts';
import { slack } from './fakes/slack.ts';

const client = { clientId: 'client-1', clientSecret: 'a-secret' };

/** What the endpoint answers to a request with no more than this. */
function ask(
  { endpoints }: DocumentedProvider,
  endpoint: string,
  request: Partial<UpstreamRequest> = {},
): Reply {
  const [method = '', path = ''] = endpoint.split(' ');
  const empty = { query: form({}), form: form({}), body: '' };
  const bare = { method, path, host: undefined, headers: {}, ...empty };
  const reply = endpoints[endpoint]?.({ ...bare, ...request });
  if (reply === undefined) throw new Error(`no endpoint ${endpoint}`);
  return reply;
}

function form(fields: Record<string, string>): URLSearchParams {
  return new URLSearchParams(fields);
}

/** The fields of a token request, for a code that was issued just now. */
function tokenRequest(
  provider: DocumentedProvider,
  authorize: string,
  scope = '',
): URLSearchParams {
  const asked = { client_id: 'client-1', response_type: 'code', redirect_uri: redirectUri };
  const query = form({ ...asked, scope });
  const { headers } = ask(provider, authorize, { query });
  const code = new URL(headers['Location'] ?? '').searchParams.get('code') ?? '';
  return form({
    client_id: 'client-1',
    client_secret: 'a-secret',
    grant_type: 'authorization_code',
    redirect_uri: redirectUri,
    code,
  });
}

describe('the fakes are as particular as the providers', () => {
  it('GitHub answers a form, unless JSON is asked for', () => {
    const provider = github(client);
    const token = 'POST /login/oauth/access_token';
    const query = tokenRequest(provider, 'GET /login/oauth/authorize');
    expect(ask(provider, token, { query }).body).to.match(
      /^access_token=[^&]+&scope=&token_type=bearer&expires_in=28800&/,
    );
    const headers = { accept: 'application/json' };
    expect(ask(provider, token, { query, headers }).body).to.contain('"bad_verification_code"');
  });

  it('GitHub forbids who does not say what program it is', () => {
    expect(ask(github(client), 'GET /user').status).to.equal(403);
    const headers = { 'user-agent': 'a program' };
    expect(ask(github(client), 'GET /user', { headers }).status).to.equal(401);
  });

  it('Discord takes token requests by form alone', () => {
    const provider = discord(client);
    const token = 'POST /api/oauth2/token';
    const query = tokenRequest(provider, 'GET /oauth2/authorize', 'identify');
    const headers = { 'user-agent': 'DiscordBot (https://relay.example, 1.0)' };
    expect(ask(provider, token, { query, headers }).body).to.contain('"code":50035');
    const formHeaders = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    expect(ask(provider, token, { form: query, headers: formHeaders }).status).to.equal(200);
  });

  it('Discord blocks programs that do not say where they live', () => {
    const headers = { 'user-agent': 'login-relay/1.0' };
    expect(ask(discord(client), 'GET /api/v10/users/@me', { headers }).status).to.equal(403);
  });

  it('Slack answers 200, whatever is wrong', () => {
    const provider = slack(client);
    const { status, body } = ask(provider, 'GET /api/openid.connect.userInfo');
    expect({ status, body }).to.deep.equal({
      status: 200,
      body: '{"ok":false,"error":"invalid_auth"}',
    });
    const fields = tokenRequest(provider, 'GET /openid/connect/authorize', 'openid');
    fields.set('client_secret', 'another');
    const answer = ask(provider, 'POST /api/openid.connect.token', { form: fields });
    expect(answer.body).to.equal('{"ok":false,"error":"bad_client_secret"}');
  });
});
