import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import {
  encoded,
  expectOAuthError,
  oauthStart,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { metadata, openIdPath } from '../harness/provider/metadata.ts';
import { serve } from '../harness/provider/serve.ts';
import { listening, Relay, secretFile } from '../harness/relay/relay-under-test.ts';

/** An issuer at which every code is valid. `calls` are the paths of the calls to it. */
async function startIssuer() {
  const calls: string[] = [];
  const { port, close } = await serve((request, response) => {
    const issuer = `http://127.0.0.1:${port}`;
    response.setHeader('Content-Type', 'application/json');
    if (request.url === openIdPath) {
      response.end(JSON.stringify(metadata(issuer)));
      return;
    }
    calls.push(request.url ?? '');
    response.end(JSON.stringify({ access_token: 'token', token_type: 'bearer' }));
  });
  return { issuer: `http://127.0.0.1:${port}`, calls, close };
}

describe('a registration whose name and client identifier move to another issuer', () => {
  let relay: Relay;
  let one: Awaited<ReturnType<typeof startIssuer>>;
  let other: typeof one;
  let config = '';
  let keyFile = '';

  const textOf = (issuer: string) => `port: 0
base-url: https://relay.example
key-file: ${keyFile}
providers:
  staff: { issuer: '${issuer}', client-id: login-relay, client-secret: s }
front-ends:
  app: { origin: https://app.example }
`;

  async function moveTo(issuer: string): Promise<void> {
    await writeFile(config, textOf(issuer), { mode: 0o600 });
    expect((await relay.reload())['msg']).to.match(/^reloaded/);
  }

  before('start the relay and two issuers', async () => {
    [one, other] = await Promise.all([startIssuer(), startIssuer()]);
    keyFile = await secretFile('the line of a key file with 32 characters or more');
    config = await secretFile(textOf(one.issuer));
    const started = await listening({ flags: { config } });
    relay = new Relay(started.relay, started.port);
  });
  beforeEach(async () => {
    await moveTo(one.issuer);
    other.calls.length = 0;
  });
  after(async () => {
    await relay.stop();
    await Promise.all([one.close(), other.close()]);
  });

  const browserOf = () => new FakeBrowser(() => ({ port: relay.port }));
  const { parameters, codeVerifier } = oauthStart();

  /** The callback of a login that starts now. */
  async function callbackOf(browser: FakeBrowser, start = '/auth/staff'): Promise<string> {
    const request = expectRedirect(await browser.open(start));
    expect(request.origin).to.equal(one.issuer);
    const state = request.searchParams.get('state') ?? '';
    return `/auth/staff/callback?${encoded({ code: 'any', state })}`;
  }

  it('takes no code of the one issuer to the other', async () => {
    const browser = browserOf();
    const callback = await callbackOf(browser);
    await moveTo(other.issuer);
    expectError(await browser.open(callback, { headers: [] }), 400);
    expect(other.calls).to.deep.equal([]);
  });

  it('finishes the login if the issuer is the same again', async () => {
    const browser = browserOf();
    const callback = await callbackOf(browser);
    await moveTo(other.issuer);
    await moveTo(one.issuer);
    const page = expectRedirect(await browser.open(callback));
    expect(page.searchParams.get('access_token')).to.equal('token');
  });

  it('redeems no code, and renews no login, of the one issuer at the other', async () => {
    const browser = browserOf();
    const callback = await callbackOf(browser, `/auth/staff?${encoded(parameters)}`);
    const page = expectRedirect(await browser.open(callback));
    const code = page.searchParams.get('code') ?? '';
    await moveTo(other.issuer);
    const redemption = { grant_type: 'authorization_code', code, code_verifier: codeVerifier };
    const answer = await requestToken(relay, { client_id: 'app', ...redemption }, [], {
      path: '/auth/staff/token',
    });
    expectOAuthError(answer, 'invalid_grant');
    expect(other.calls).to.deep.equal([]);
  });
});
