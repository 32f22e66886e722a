import type { Pages } from '../../harness/provider/pages.ts';
import { answer, html, json } from '../../harness/provider/provider-behaviours.ts';
import type { Client } from '../../harness/relay/relay-under-test.ts';
import { documented, Grants, isFrom, redirectBack } from './documented-provider.ts';

/** The record of the one user, as the REST API writes it. */
export const gitlabUser = `{"id":7,"username":"ada","name":"Ada Lovelace","state":"active","avatar_url":null,"web_url":"https://gitlab.com/ada"}`;

/**
 * GitLab with an application that has only the scope `read_user`.
 *
 * @see https://docs.gitlab.com/api/oauth2/
 */
export function gitlab(client: Client): Pages {
  const grants = new Grants();
  return documented({
    'GET /oauth/authorize'({ query }) {
      if (query.get('client_id') !== client.clientId) return html(401, 'Unknown client.');
      if (query.get('response_type') !== 'code') return html(400, 'Unsupported response type.');
      if (query.get('scope') !== 'read_user')
        return redirectBack(query, { error: 'invalid_scope' });
      return redirectBack(query, { code: grants.issue(query) });
    },
    'POST /oauth/token'({ query, form }) {
      const parameters = new URLSearchParams([...query, ...form]);
      if (!isFrom(client, parameters)) {
        return json({ error: 'invalid_client', error_description: 'No such client.' }, 401);
      }
      if (parameters.get('grant_type') !== 'authorization_code') {
        return json({ error: 'unsupported_grant_type' }, 400);
      }
      const grant = grants.redeem(parameters);
      if ('fault' in grant)
        return json({ error: 'invalid_grant', error_description: 'No such grant.' }, 400);
      return json({
        access_token: grant.token,
        token_type: 'Bearer',
        expires_in: 7200,
        refresh_token: 'of-no-use-to-a-relay',
        scope: 'read_user',
        created_at: 1763600000,
      });
    },
    'GET /api/v4/user': (request) =>
      grants.knows(request) ? answer(200, gitlabUser) : json({ message: '401 Unauthorized' }, 401),
  });
}
