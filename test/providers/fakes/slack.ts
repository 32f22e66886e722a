import type { Pages } from '../../harness/provider/pages.ts';
import { answer, html, json } from '../../harness/provider/provider-behaviours.ts';
import type { Client } from '../../harness/relay/relay-under-test.ts';
import { documented, Grants, redirectBack } from './documented-provider.ts';

/** The record of the one user. */
export const slackUser = `{"ok":true,"sub":"U1","https:\\/\\/slack.com\\/user_id":"U1","https:\\/\\/slack.com\\/team_id":"T1","name":"ada","picture":"https:\\/\\/secure.gravatar.com\\/a.jpg","locale":"en-US"}`;

const refused = (error: string) => json({ ok: false, error });

/**
 * Slack: every failure has status 200, also in the user lookup. A challenge would make the application a
 * public client forever, so the fake refuses it.
 *
 * @see https://docs.slack.dev/reference/methods/openid.connect.token
 * @see https://docs.slack.dev/reference/methods/openid.connect.userInfo
 */
export function slack(client: Client): Pages {
  const grants = new Grants();
  return documented({
    'GET /openid/connect/authorize'({ query }) {
      if (query.get('client_id') !== client.clientId) return html(200, 'Invalid client_id');
      if (query.has('code_challenge')) return html(400, 'This app does not use PKCE.');
      if (!query.get('scope')?.split(' ').includes('openid')) {
        return redirectBack(query, { error: 'invalid_scope' });
      }
      return redirectBack(query, { code: grants.issue(query) });
    },
    'POST /api/openid.connect.token'({ form }) {
      if (form.get('client_id') !== client.clientId) return refused('invalid_client_id');
      if (form.get('client_secret') !== client.clientSecret) return refused('bad_client_secret');
      const grant = grants.redeem(form);
      if ('fault' in grant) {
        const redirect = grant.fault === 'other_redirect_uri';
        return refused(redirect ? 'bad_redirect_uri' : 'invalid_code');
      }
      const token = { access_token: grant.token, token_type: 'Bearer', id_token: 'of.no.use' };
      return json({ ok: true, ...token });
    },
    'GET /api/openid.connect.userInfo': (request) =>
      grants.knows(request) ? answer(200, slackUser) : refused('invalid_auth'),
  });
}
