import type { IncomingMessage } from 'node:http';
import { Events, type MutableResponse, OAuth2Server } from 'oauth2-mock-server';
import type { Rig, RunningServer } from './rig.ts';

/**
 * oauth2-mock-server: it has no login page, and accepts every client, redirect URI and code. Event handlers
 * fix two things: its metadata, which lists only `none` as client authentication, and its user lookup,
 * which accepts made-up tokens.
 *
 * @see https://github.com/axa-group/oauth2-mock-server#readme
 */
export const oauth2MockServer: Rig = {
  name: 'oauth2-mock-server 9',
  variant: 'accepts every client and code',
  packages: [],
  user: { sub: 'johndoe' },
  wrongTokenRequest: 'query',
  refusesExpiredCodes: false,
  hides: ['client secret', 'client id', 'callback', 'scope', 'method'],
  start,
};

async function start(): Promise<RunningServer> {
  const server = new OAuth2Server();
  const tokens = new Set<unknown>();
  await server.issuer.keys.generate('RS256');
  server.service
    .on(Events.BeforeWellKnownOpenIdConfiguration, ({ body }: MutableResponse) => {
      Object.assign(body, { token_endpoint_auth_methods_supported: ['client_secret_basic'] });
    })
    .on(Events.BeforeResponse, ({ body }: MutableResponse) => {
      if (body !== '') tokens.add(body['access_token']);
    })
    .on(Events.BeforeUserinfo, (response: MutableResponse, request: IncomingMessage) => {
      if (tokens.has(request.headers.authorization?.replace('Bearer ', ''))) return;
      Object.assign(response, { statusCode: 401, body: { error: 'invalid_token' } });
    });
  await server.start(undefined, '127.0.0.1');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  server.issuer.url = issuer;
  return { issuer, flags: {}, allow: async () => {}, close: () => server.stop() };
}
