import { expect } from 'chai';
import * as oidc from 'openid-client';
import { resourceConfigs } from '../../harness/project/shipped-pages.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { logIn, ofApp, resourcesRelay, secret, tokensOf } from '../../resources/support/resources-relay.ts';
import { DocumentedPrograms } from './support/documented-programs.ts';

describe('a server that introspects, as it is published,', () => {
  const [, , , ofPrograms = ''] = resourceConfigs();
  const relay = resourcesRelay({
    here: true,
    relay: ofPrograms.replace(/front-ends:.*/s, '').replace('organizations: [example]', "users: ['42']"),
    frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [notes] }',
    files: { './notes-secret': secret },
  });
  const programs = startedOnce('its folder', DocumentedPrograms.create, (one) => one.stop());
  const accessToken = async () => tokensOf(await logIn(relay(), ofApp)).access_token;

  it('may be the API with Express of docs/resources.md', async () => {
    const port = await freePort();
    await programs().serve('express.js', { relay: relay().address, port });
    const ask = async (headers: Record<string, string>, method = 'GET') =>
      await fetch(`http://127.0.0.1:${port}`, { method, headers });
    const Authorization = `Bearer ${await accessToken()}`;
    expect(await (await ask({ Authorization })).text()).to.equal('The notes of 42');
    expect((await ask({ Authorization: 'Bearer junk' })).status).to.equal(401);
    const stranger = await ask({});
    expect(stranger.status).to.equal(401);
    expect(stranger.headers.get('Access-Control-Allow-Origin')).to.equal('*');
    expect((await ask({}, 'OPTIONS')).status).to.equal(204);
  });

  it('may use openid-client', async () => {
    const issuer = new URL(`${relay().address}/auth/provider`);
    const config = await oidc.discovery(issuer, 'notes', undefined, oidc.ClientSecretBasic(secret), {
      algorithm: 'oauth2',
      execute: [oidc.allowInsecureRequests],
    });
    expect(await oidc.tokenIntrospection(config, await accessToken())).to.include({
      active: true,
      sub: '42',
      aud: 'https://notes.example.com/mcp',
      iss: issuer.href,
    });
    expect(await oidc.tokenIntrospection(config, 'junk')).to.deep.equal({ active: false });
  });
});
