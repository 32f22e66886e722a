import { expect } from 'chai';
import { oauthStart } from '../harness/login/oauth-front-end.ts';
import { clientsRelay, jsonOf, locationOf, loopback } from './support/clients-relay.ts';

const scope = "scope: 'read:user user:email'";
const native = `refresh-tokens: bearer, redirect-uris: ['${loopback}']`;
const settings = {
  relay: 'resources:\n  notes: { url: https://notes.example.com/mcp, scope: "notes:read" }\n',
  frontEnds: `  tools: { kind: native, ${native}, ${scope} }
  bare: { kind: native, ${native} }
  agents: { kind: native, ${native}, ${scope}, resources: [notes] }
  site: { origin: https://site.example, token-delivery: code, ${scope}, resources: [notes] }
  page: { origin: https://page.example, token-delivery: code, refresh-tokens: bearer, ${scope} }
`,
};
const all = 'read:user user:email';

describe('a login that asks for more than its front end may have', () => {
  const relay = clientsRelay(() => settings);

  const redirectUris: Readonly<Record<string, string>> = {
    site: 'https://site.example/',
    page: 'https://page.example/',
  };
  async function asked(client_id: string, asksFor: string) {
    const redirect_uri = redirectUris[client_id] ?? loopback;
    const { parameters } = oauthStart({ client_id, redirect_uri, scope: asksFor });
    return locationOf(await relay().open(relay().browser(), parameters)).searchParams;
  }

  for (const [client, asksFor, expected] of [
    ['tools', 'read:user offline_access', 'read:user'],
    ['tools', 'openid profile email', all],
    ['tools', 'admin:org', all],
    ['tools', 'read:user  user:email', all],
    ['tools', '', all],
    ['bare', 'read:user offline_access', null],
    ['agents', 'openid profile email', all],
    ['agents', 'offline_access', all],
    ['agents', 'notes:read read:user admin:org', 'read:user'],
    ['site', 'openid profile', all],
    ['site', 'user:email admin:org', 'user:email'],
  ] as const) {
    it(`gets ${expected ?? 'what the provider decides'} at ${client} for "${asksFor}"`, async () => {
      const parameters = await asked(client, asksFor);
      expect(parameters.get('error')).to.equal(null);
      expect(parameters.get('scope')).to.equal(expected);
    });
  }

  for (const asksFor of ['admin:org', 'read:user admin:org', 'offline_access']) {
    it(`is refused at a page without a resource for "${asksFor}"`, async () => {
      expect((await asked('page', asksFor)).get('error')).to.equal('invalid_scope');
    });
  }

  it('refreshes in the same way', async () => {
    const refreshed = async (client_id: string, redirect_uri: string, asksFor: string) => {
      const { start, code } = await relay().logIn({ client_id, redirect_uri });
      const tokens = jsonOf(await relay().redeem(start, code));
      relay().provider.calls.length = 0;
      const form = { grant_type: 'refresh_token', client_id, refresh_token: `${tokens['refresh_token']}` };
      return await relay().post('token', { ...form, scope: asksFor });
    };
    relay().provider.mood.saysScope = false;
    const sent = async (asksFor: string) => {
      expect((await refreshed('tools', loopback, asksFor)).status).to.equal(200);
      return relay().provider.calls.map(({ scope: sentScope }) => sentScope);
    };
    expect(await sent('read:user offline_access')).to.deep.equal(['read:user']);
    expect(await sent('openid profile')).to.deep.equal([undefined]);
    const ofPage = await refreshed('page', 'https://page.example/', 'read:user offline_access');
    expect(jsonOf(ofPage)).to.include({ error: 'invalid_scope' });
  });
});
