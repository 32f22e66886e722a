import type { IncomingMessage } from 'node:http';
import { Events, type MutableResponse, OAuth2Server } from 'oauth2-mock-server';
import type { Rig, RunningServer } from './rig.ts';

/**
 * oauth2-mock-server as it is: everybody is logged in without being asked, every client, code and
 * redirect URI is accepted. Its metadata lists no way of client authentication but `none`, which
 * is changed here.
 *
 * @see https://github.com/axa-group/oauth2-mock-server#readme
 */
export const oauth2MockServer: Rig = {
  name: 'oauth2-mock-server 9',
  variant: 'accepts every client',
  packages: [],
  user: { sub: 'johndoe' },
  start,
};

async function start(): Promise<RunningServer> {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  const metadata = Events.BeforeWellKnownOpenIdConfiguration;
  server.service.on(metadata, ({ body }: MutableResponse, _request: IncomingMessage) => {
    Object.assign(body, { token_endpoint_auth_methods_supported: ['client_secret_basic'] });
  });
  await server.start(undefined, '127.0.0.1');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  server.issuer.url = issuer;
  return { issuer, flags: {}, allow: async () => {}, close: () => server.stop() };
}
