import { expect } from 'chai';
import { type Answer, request } from '../harness/client/request.ts';
import type { Pages } from '../harness/provider/pages.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { redirectUri, registration } from '../harness/relay/relay-under-test.ts';
import { discord } from './fakes/discord.ts';
import { github } from './fakes/github.ts';
import { slack } from './fakes/slack.ts';

const client = { clientId: 'client-1', clientSecret: 'a-secret' };

/** A request to an endpoint. */
interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: URLSearchParams;
  readonly form?: URLSearchParams;
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the fakes are as strict as the providers:', () => {
  let provider: StrictProvider;
  beforeEach(async () => {
    provider = await StrictProvider.start(registration());
  });
  afterEach(() => provider.stop());

  /** The answer of the endpoint of these pages to a request with only these parts. */
  async function ask(pages: Pages, endpoint: string, asking: Asking = {}): Promise<Answer> {
    provider.pages = pages;
    const [method = '', path = ''] = endpoint.split(' ');
    const { headers = {}, query = '', form } = asking;
    const body = form && { body: `${form}`, headers: Object.entries({ ...formType, ...headers }) };
    return await request(provider.port, {
      method,
      path: `${path}?${query}`,
      headers: Object.entries(headers),
      ...body,
    });
  }

  /** The fields of a token request, for a code that was issued just now. */
  async function tokenRequest(
    pages: Pages,
    authorize: string,
    scope = '',
  ): Promise<URLSearchParams> {
    const asked = { client_id: 'client-1', response_type: 'code', redirect_uri: redirectUri };
    const query = new URLSearchParams({ ...asked, scope });
    const { headers } = await ask(pages, authorize, { query });
    const code = new URL(headers.location ?? '').searchParams.get('code') ?? '';
    return new URLSearchParams({
      client_id: 'client-1',
      client_secret: 'a-secret',
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      code,
    });
  }

  it('GitHub answers a form, unless JSON is asked for', async () => {
    const pages = github(client);
    const token = 'POST /login/oauth/access_token';
    const query = await tokenRequest(pages, 'GET /login/oauth/authorize');
    expect(`${(await ask(pages, token, { query })).body}`).to.match(
      /^access_token=[^&]+&scope=&token_type=bearer&expires_in=28800&/,
    );
    const headers = { accept: 'application/json' };
    expect(`${(await ask(pages, token, { query, headers })).body}`).to.contain(
      '"bad_verification_code"',
    );
  });

  it('GitHub refuses programs without a name', async () => {
    expect((await ask(github(client), 'GET /user')).status).to.equal(403);
    const headers = { 'user-agent': 'a program' };
    expect((await ask(github(client), 'GET /user', { headers })).status).to.equal(401);
  });

  it('Discord accepts token requests only as forms', async () => {
    const pages = discord(client);
    const token = 'POST /api/oauth2/token';
    const query = await tokenRequest(pages, 'GET /oauth2/authorize', 'identify');
    const headers = { 'user-agent': 'DiscordBot (https://relay.example, 1.0)' };
    expect(`${(await ask(pages, token, { query, headers })).body}`).to.contain('"code":50035');
    expect((await ask(pages, token, { form: query, headers })).status).to.equal(200);
  });

  it('Discord blocks programs that do not name their address', async () => {
    const headers = { 'user-agent': 'login-relay/1.0' };
    expect((await ask(discord(client), 'GET /api/v10/users/@me', { headers })).status).to.equal(
      403,
    );
  });

  it('Slack answers 200 to every failure', async () => {
    const pages = slack(client);
    const { status, body } = await ask(pages, 'GET /api/openid.connect.userInfo');
    expect(status).to.equal(200);
    expect(`${body}`).to.equal('{"ok":false,"error":"invalid_auth"}');
    const fields = await tokenRequest(pages, 'GET /openid/connect/authorize', 'openid');
    fields.set('client_secret', 'another');
    const answer = await ask(pages, 'POST /api/openid.connect.token', { form: fields });
    expect(`${answer.body}`).to.equal('{"ok":false,"error":"bad_client_secret"}');
  });
});
