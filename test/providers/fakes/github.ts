import {
  type DocumentedProvider,
  Grants,
  jsonReply,
  page,
  type Reply,
  redirectBack,
  type UpstreamRequest,
} from '../../harness/provider/fake-provider.ts';
import type { Client } from '../../harness/relay/relay-under-test.ts';

/** The record of the one user, as the REST API writes it. */
export const githubUser = `{"login":"ada","id":9007199254740993,"avatar_url":"https://avatars.githubusercontent.com/u/1?v=4","html_url":"https://github.com/ada","name":null,"site_admin":false}`;

/**
 * GitHub's web application flow: a failing token request is answered 200, and every token request
 * by a form unless JSON is asked for; the API wants to know the name of the program.
 *
 * @see https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * @see https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
 * @see https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
 */
export function github(client: Client): DocumentedProvider {
  const grants = new Grants();
  return {
    endpoints: {
      'GET /login/oauth/authorize': ({ query }) =>
        query.get('client_id') === client.clientId
          ? redirectBack(query, {
              code: grants.issue(query),
              iss: 'https://github.com/login/oauth',
            })
          : page(404, 'Not Found'),
      'POST /login/oauth/access_token'(request) {
        const parameters = new URLSearchParams([...request.query, ...request.form]);
        return inTheFormAskedFor(request, tokenAnswer(client, grants, parameters));
      },
      'GET /user'(request) {
        if (!request.headers['user-agent']) {
          return page(403, 'Say who you are: User-Agent is missing.');
        }
        return grants.knows(request)
          ? jsonReply(200, githubUser)
          : jsonReply(401, { message: 'Bad credentials', status: '401' });
      },
    },
  };
}

function tokenAnswer(
  client: Client,
  grants: Grants,
  parameters: URLSearchParams,
): Record<string, string> {
  if (
    parameters.get('client_id') !== client.clientId ||
    parameters.get('client_secret') !== client.clientSecret
  ) {
    return failure('incorrect_client_credentials', 'No such client, or not its secret.');
  }
  const grant = grants.redeem(parameters);
  if ('token' in grant) return { access_token: grant.token, scope: '', token_type: 'bearer' };
  return grant.fault === 'other_redirect_uri'
    ? failure('redirect_uri_mismatch', 'Not the registered callback URL.')
    : failure('bad_verification_code', 'No such code, or too late.');
}

function failure(error: string, error_description: string): Record<string, string> {
  const error_uri = `https://docs.github.com/troubleshooting#${error}`;
  return { error, error_description, error_uri };
}

function inTheFormAskedFor({ headers }: UpstreamRequest, answer: Record<string, string>): Reply {
  if (headers.accept === 'application/json') return jsonReply(200, answer);
  const type = 'application/x-www-form-urlencoded; charset=utf-8';
  return { status: 200, headers: { 'Content-Type': type }, body: `${new URLSearchParams(answer)}` };
}
