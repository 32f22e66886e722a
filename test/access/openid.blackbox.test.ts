import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { type CertifiedProvider, signIn, startCertifiedProvider } from '../harness/provider/certified-provider.ts';
import type { Relay } from '../harness/relay/relay.ts';
import { baseUrl, secretFile, startRelayWith } from '../harness/relay/relay-under-test.ts';
import { eventually } from '../harness/system/eventually.ts';

describe('staff by group at a certified OpenID provider', () => {
  const client = { clientId: 'client-1', clientSecret: canary('secret') };
  const groups = { ada: ['editors', 'staff'], eve: ['guests', 'staff-of-guests'], bob: [] };
  let provider: CertifiedProvider;
  let relay: Relay;

  before('start the provider and the relay', async () => {
    provider = await startCertifiedProvider({ client, groups });
    relay = await startRelayWith(`base-url: ${baseUrl}
port: 0
providers:
  provider:
    client-id: ${client.clientId}
    client-secret-file: ${await secretFile(client.clientSecret)}
    issuer: ${provider.issuer}
    scope: openid groups
    allow: { groups: [staff] }
front-ends:
  app: { origin: https://app.example, error-delivery: page }
`);
  });
  after('stop them', async () => {
    await relay.stop();
    await provider.close();
  });

  async function logIn(login: string) {
    const browser = new FakeBrowser(() => relay);
    return await signIn(browser, await browser.visit('/auth/provider'), login);
  }

  it('lets in who is in the group', async () => {
    expect((await logIn('ada')).url.searchParams.has('access_token')).to.equal(true);
  });

  for (const login of ['eve', 'bob', 'somebody']) {
    it(`refuses ${login}, who is not, and offers the login page again`, async () => {
      const { status, body } = await logIn(login);
      expect(status).to.equal(403);
      expect(`${body}`).to.contain('You are logged in as').and.to.contain('prompt=select_account');
      const again = await new FakeBrowser(() => relay).open('/auth/provider?prompt=select_account');
      expect(`${again.headers.location}`).to.contain('prompt=login');
    });
  }
});

describe('people by the ID token of a certified OpenID provider', () => {
  const client = { clientId: 'client-1', clientSecret: canary('secret') };
  let provider: CertifiedProvider;
  let relay: Relay;

  before('start the provider and the relay', async () => {
    provider = await startCertifiedProvider({ client, groups: {} });
    relay = await startRelayWith(`base-url: ${baseUrl}
port: 0
providers:
  provider:
    client-id: ${client.clientId}
    client-secret-file: ${await secretFile(client.clientSecret)}
    issuer: ${provider.issuer}
    user-from: id-token
    allow: { users: [ada] }
front-ends:
  app: { origin: https://app.example }
`);
  });
  after('stop them', async () => {
    await relay.stop();
    await provider.close();
  });

  for (const [login, isIn] of [
    ['ada', true],
    ['eve', false],
  ] as const) {
    it(`${isIn ? 'lets in' : 'refuses'} ${login}, and makes no user lookup`, async () => {
      const browser = new FakeBrowser(() => relay);
      const page = await signIn(browser, await browser.visit('/auth/provider'), login);
      expect(page.url.searchParams.has('access_token'), `${page.body}`).to.equal(isIn);
      await eventually(async () => {
        const lines = relay.process.stdout.split('\n').filter((one) => one.includes('"action":"callback"'));
        const { access, provider: call } = JSON.parse(`${lines[isIn ? 0 : 1]}`);
        expect(access).to.equal(isIn ? 'allowed' : 'refused');
        expect(call.endpoint).to.equal('token');
      });
    });
  }
});
