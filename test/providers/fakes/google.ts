import type { Pages } from '../../harness/provider/pages.ts';
import { answer, html, json } from '../../harness/provider/provider-behaviours.ts';
import type { Client } from '../../harness/relay/relay-under-test.ts';
import { documented, Grants, isFrom, redirectBack } from './documented-provider.ts';

/** The record of the one user. */
export const googleUser = `{\n  "sub": "10769150350006150715113082367",\n  "name": "Ada Lovelace",\n  "given_name": "Ada",\n  "family_name": "Lovelace",\n  "picture": "https://lh3.googleusercontent.com/a/x=s96-c"\n}`;

/**
 * Google: authorization responses have `iss` and other parameters, and token requests are forms.
 *
 * @see https://developers.google.com/identity/openid-connect/openid-connect
 */
export function google(client: Client): Pages {
  const grants = new Grants();
  return documented({
    'GET /o/oauth2/v2/auth'({ query }) {
      if (query.get('client_id') !== client.clientId) return html(401, 'invalid_client');
      if (query.get('response_type') !== 'code' || !query.has('scope')) {
        return html(400, 'invalid_request');
      }
      return redirectBack(query, {
        iss: 'https://accounts.google.com',
        code: grants.issue(query),
        scope: `${query.get('scope')} https://www.googleapis.com/auth/userinfo.profile`,
        authuser: '0',
        prompt: 'consent',
      });
    },
    'POST /token'({ form }) {
      if (!isFrom(client, form)) {
        return json({ error: 'invalid_client', error_description: 'Unauthorized' }, 401);
      }
      if (form.get('grant_type') !== 'authorization_code') {
        return json({ error: 'unsupported_grant_type' }, 400);
      }
      const grant = grants.redeem(form);
      if ('fault' in grant) {
        const redirect = grant.fault === 'other_redirect_uri';
        return json({ error: redirect ? 'redirect_uri_mismatch' : 'invalid_grant' }, 400);
      }
      return json({
        access_token: grant.token,
        expires_in: 3599,
        scope: 'openid https://www.googleapis.com/auth/userinfo.profile',
        token_type: 'Bearer',
        id_token: 'of.no.use',
      });
    },
    'GET /v1/userinfo': (request) =>
      grants.knows(request)
        ? answer(200, googleUser)
        : json({ error: 'invalid_request', error_description: 'Invalid Credentials' }, 401),
  });
}
