import type { PageRequest, Pages } from '../../harness/provider/pages.ts';
import { answer, html, json } from '../../harness/provider/provider-behaviours.ts';
import type { Client } from '../../harness/relay/relay-under-test.ts';
import { documented, Grants, isFrom, redirectBack } from './documented-provider.ts';

/** The record of the one user; identifiers are larger than numbers can be. */
export const discordUser = `{"id":"90071992547409931","username":"ada","discriminator":"0","global_name":"Ada Lovelace","avatar":null,"public_flags":64}`;

/**
 * Discord: token requests only as forms, and a User-Agent in a special form.
 *
 * @see https://docs.discord.com/developers/topics/oauth2
 * @see https://docs.discord.com/developers/reference
 */
export function discord(client: Client): Pages {
  const grants = new Grants();
  // Read it each time: the secret may change.
  const basic = () =>
    `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
  return documented({
    'GET /oauth2/authorize'({ query }) {
      if (query.get('client_id') !== client.clientId) return html(400, 'Unknown application.');
      if (query.get('response_type') !== 'code') return html(400, 'Unsupported response type.');
      if (query.get('scope') !== 'identify') return redirectBack(query, { error: 'invalid_scope' });
      return redirectBack(query, { code: grants.issue(query), iss: 'https://discord.com' });
    },
    'POST /api/oauth2/token'(request) {
      const { headers, form } = request;
      if (!isBot(request)) return cloudflare;
      if (headers['content-type'] !== 'application/x-www-form-urlencoded') {
        return json({ code: 50035, message: 'Invalid Form Body', errors: {} }, 400);
      }
      if (!isFrom(client, form) && headers.authorization !== basic()) {
        return json({ error: 'invalid_client' }, 401);
      }
      if (form.get('grant_type') !== 'authorization_code') {
        return json({ error: 'unsupported_grant_type' }, 400);
      }
      const grant = grants.redeem(form);
      if ('fault' in grant) return json({ error: 'invalid_grant' }, 400);
      return json({
        access_token: grant.token,
        token_type: 'Bearer',
        expires_in: 604800,
        refresh_token: 'of-no-use-to-a-relay',
        scope: 'identify',
      });
    },
    'GET /api/v10/users/@me'(request) {
      if (!isBot(request)) return cloudflare;
      return grants.knows(request)
        ? answer(200, discordUser)
        : json({ message: '401: Unauthorized', code: 0 }, 401);
    },
  });
}

const cloudflare = html(403, 'Blocked: no program is named.');

function isBot({ headers }: PageRequest): boolean {
  return /^DiscordBot \(https?:\/\/[^ ,]+, [\w.-]+\)/.test(headers['user-agent'] ?? '');
}
