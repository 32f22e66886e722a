import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { encoded } from '../harness/login/oauth-front-end.ts';
import { baseUrl, loginPath } from '../harness/relay/relay-under-test.ts';
import {
  introspect,
  logIn,
  notes,
  ofApp,
  resourcesRelay,
  secret,
  tokensOf,
} from './support/resources-relay.ts';

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

  it('may be FastMCP, whose IntrospectionTokenVerifier does not encode the secret', async () => {
    const credentials = Buffer.from(`notes:${secret}`).toString('base64');
    const body = encoded({ token, token_type_hint: 'access_token' });
    const { pathname, host } = new URL(issuer);
    const connection = await RawConnection.open(relay().port);
    connection.say(
      [
        `POST ${pathname}/introspect HTTP/1.1`,
        `Host: ${host}`,
        'Accept-Encoding: gzip, deflate',
        'Connection: keep-alive',
        'User-Agent: python-httpx/0.28.1',
        'Content-Type: application/x-www-form-urlencoded',
        'Accept: application/json',
        `Authorization: Basic ${credentials}`,
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    );
    await connection.hear('}');
    connection.close();
    const [head = '', answer = ''] = connection.heard.split('\r\n\r\n');
    expect(head)
      .to.match(/^HTTP\/1\.1 200 OK\r\n/)
      .and.match(/\r\ncontent-type: application\/json/i);
    const { exp, ...told } = JSON.parse(answer);
    expect(told).to.include({
      active: true,
      client_id: 'app',
      scope: 'notes:read',
      aud: notes,
      iss: issuer,
    });
    expect(exp).to.be.greaterThan(Date.now() / 1000);
  });
});
