import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import { baseUrl, loginPath } from '../harness/relay/relay-under-test.ts';
import { introspect, logIn, notes, ofApp, resourcesRelay, secret, tokensOf } from './support/resources-relay.ts';

describe('a server that introspects', () => {
  const relay = resourcesRelay();
  const issuer = `${baseUrl}${loginPath}`;
  let token: string;
  beforeEach(async () => {
    token = tokensOf(await logIn(relay(), { ...ofApp, resource: notes })).access_token;
  });

  for (const [name, auth] of [
    ['client_secret_basic', oauth.ClientSecretBasic(secret)],
    ['client_secret_post', oauth.ClientSecretPost(secret)],
  ] as const) {
    it(`may use oauth4webapi with ${name}`, async () => {
      const url = new URL(issuer);
      const here = {
        [oauth.customFetch]: (asked: string, init: object) =>
          fetch(asked.replace(new URL(baseUrl).origin, `http://127.0.0.1:${relay().port}`), init),
      };
      const server = await oauth.processDiscoveryResponse(
        url,
        await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...here }),
      );
      expect(server.introspection_endpoint_auth_methods_supported).to.include(name);
      const client = { client_id: 'notes' };
      const ask = async (one: string) =>
        await oauth.processIntrospectionResponse(
          server,
          client,
          await oauth.introspectionRequest(server, client, auth, one, here),
        );
      expect(await ask(token)).to.deep.equal(await introspect(relay(), 'notes', token));
      expect(await ask('junk')).to.deep.equal({ active: false });
    });
  }
});
