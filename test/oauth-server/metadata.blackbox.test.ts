import { expect } from 'chai';
import { expectError } from '../harness/expect/expectations.ts';
import { issuer } from '../harness/login/oauth-front-end.ts';
import { relayUnderTest, secretFile } from '../harness/relay/relay-under-test.ts';

const path = '/.well-known/oauth-authorization-server/auth/provider';

describe('the metadata', () => {
  const underTest = relayUnderTest(async () => ({
    scope: 'read:user repo',
    'key-file': await secretFile('k'.repeat(32)),
  }));

  it('describes the relay', async () => {
    const answer = await underTest().get(path);
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.match(/^application\/json/);
    expect(JSON.parse(`${answer.body}`)).to.deep.equal({
      issuer,
      authorization_endpoint: issuer,
      token_endpoint: `${issuer}/token`,
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint: `${issuer}/revoke`,
      revocation_endpoint_auth_methods_supported: ['none'],
      scopes_supported: ['read:user', 'repo'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      dpop_signing_alg_values_supported: ['ES256', 'EdDSA', 'Ed25519'],
    });
  });

  it('is for GET and HEAD', async () => {
    expect((await underTest().send({ method: 'HEAD', path })).status).to.equal(200);
    expectError(await underTest().send({ method: 'POST', path }), 405);
  });
});

describe('the metadata of a relay without a key file, beyond this machine', () => {
  const underTest = relayUnderTest({ 'key-file': undefined });

  it('offers no refresh, and no scope because none is configured', async () => {
    const metadata = JSON.parse(`${(await underTest().get(path)).body}`);
    expect(metadata.grant_types_supported).to.deep.equal(['authorization_code']);
    expect(metadata).not.to.have.property('scopes_supported');
  });
});

describe('the metadata of a relay whose base URL has a path', () => {
  const underTest = relayUnderTest({ 'base-url': 'https://relay.example/login' });

  it("is at its place under the host's root, and under the path that a proxy removes", async () => {
    for (const at of [path.replace('/auth/', '/login/auth/'), path]) {
      const answer = await underTest().get(at);
      expect(answer.status).to.equal(200);
      const { issuer: own } = JSON.parse(`${answer.body}`);
      expect(own).to.equal('https://relay.example/login/auth/provider');
    }
  });
});

describe('the metadata of a relay with --state-check off', () => {
  const underTest = relayUnderTest({ 'state-check': 'off' });

  it('does not exist, and neither do its endpoints', async () => {
    expectError(await underTest().get(path), 404);
    for (const endpoint of ['token', 'revoke']) {
      const answer = await underTest().send({ method: 'POST', path: `/auth/provider/${endpoint}` });
      expectError(answer, 404);
    }
  });
});
