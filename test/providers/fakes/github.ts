import { canary } from '../../harness/expect/canaries.ts';
import type { PageRequest, Pages } from '../../harness/provider/pages.ts';
import { answer, html, json, type Reply } from '../../harness/provider/provider-behaviours.ts';
import type { Client } from '../../harness/relay/relay-under-test.ts';
import { documented, Grants, isFrom, redirectBack } from './documented-provider.ts';

/** The record of the one user, as the REST API writes it. */
export const githubUser = `{"login":"ada","id":9007199254740993,"avatar_url":"https://avatars.githubusercontent.com/u/1?v=4","html_url":"https://github.com/ada","name":null,"site_admin":false}`;

const eightHours = 8 * 60 * 60;
const sixMonths = 184 * 24 * 60 * 60;

/**
 * GitHub's web application flow. The status of a failed token request is 200. Token responses are forms
 * unless the client accepts JSON. The API requires a User-Agent. A refresh ends the previous refresh token
 * and access token.
 *
 * @see https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * @see https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
 * @see https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
 * @see https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-token
 * @see https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
 *
 * @param tokensEnd false for an app whose tokens stay valid, and without refresh tokens
 */
export function github(client: Client, { tokensEnd = true } = {}): Pages {
  const grants = new Grants();
  /** The access token of each refresh token. */
  const pairs = new Map<string, string>();
  const tokens = (token: string) => {
    const whole = { access_token: token, scope: '', token_type: 'bearer' };
    if (!tokensEnd) return whole;
    const refreshToken = canary('token');
    pairs.set(refreshToken, token);
    return {
      ...whole,
      expires_in: eightHours,
      refresh_token: refreshToken,
      refresh_token_expires_in: sixMonths,
    };
  };
  const refreshed = (refreshToken: string) => {
    const old = pairs.get(refreshToken);
    if (old === undefined) {
      return failure('bad_refresh_token', 'The refresh token passed is incorrect or expired.');
    }
    pairs.delete(refreshToken);
    grants.revoke(old);
    return tokens(grants.issueToken());
  };
  const exchanged = (parameters: URLSearchParams) => {
    if (!isFrom(client, parameters)) {
      return failure('incorrect_client_credentials', 'No such client, or not its secret.');
    }
    if (parameters.get('grant_type') === 'refresh_token') {
      return refreshed(parameters.get('refresh_token') ?? '');
    }
    const { token, fault } = grants.redeem(parameters);
    if (token !== undefined) return tokens(token);
    return fault === 'other_redirect_uri'
      ? failure('redirect_uri_mismatch', 'Not the registered callback URL.')
      : failure('bad_verification_code', 'No such code, or too late.');
  };
  return documented({
    'GET /login/oauth/authorize': ({ query }) =>
      query.get('client_id') === client.clientId
        ? redirectBack(query, { code: grants.issue(query), iss: 'https://github.com/login/oauth' })
        : html(404, 'Not Found'),
    'POST /login/oauth/access_token'(request) {
      const parameters = new URLSearchParams([...request.query, ...request.form]);
      return inTheFormAskedFor(request, exchanged(parameters));
    },
    [`DELETE /applications/${client.clientId}/token`]({ headers, body }) {
      const credentials = Buffer.from(`${client.clientId}:${client.clientSecret}`);
      if (headers.authorization !== `Basic ${credentials.toString('base64')}`) {
        return json({ message: 'Bad credentials' }, 401);
      }
      const { access_token } = JSON.parse(body);
      if (typeof access_token !== 'string') return json({ message: 'Validation' }, 422);
      return grants.revoke(access_token) ? answer(204, '', {}) : json({ message: 'Not Found' }, 404);
    },
    'GET /user'(request) {
      if (!request.headers['user-agent']) {
        return html(403, 'Say who you are: User-Agent is missing.');
      }
      return grants.knows(request) ? answer(200, githubUser) : json({ message: 'Bad credentials', status: '401' }, 401);
    },
  });
}

function failure(error: string, error_description: string): Record<string, string> {
  const error_uri = `https://docs.github.com/troubleshooting#${error}`;
  return { error, error_description, error_uri };
}

function inTheFormAskedFor({ headers }: PageRequest, fields: Record<string, string | number>): Reply {
  if (headers.accept === 'application/json') return json(fields);
  const type = 'application/x-www-form-urlencoded; charset=utf-8';
  const pairs = Object.entries(fields).map(([name, value]) => [name, `${value}`]);
  return answer(200, `${new URLSearchParams(pairs)}`, { 'Content-Type': type });
}
