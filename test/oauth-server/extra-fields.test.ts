import { expect } from 'chai';
import { ClientsRelay, jsonOf, locationOf } from '../clients/support/clients-relay.ts';
import { granted } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/request.ts';
import { expectCmsPopup, resultOf } from '../harness/expect/cms-popup.ts';
import { oauthStart } from '../harness/login/oauth-front-end.ts';
import { SessionPage, sessionOf } from '../harness/login/session-page.ts';
import { json, answer as reply } from '../harness/provider/provider-behaviours.ts';
import { relayOfFile } from '../harness/relay/relay-of-file.ts';
import { loginPath } from '../harness/relay/relay-under-test.ts';

const lists = 'token-fields: [instance_url, signature]\n    callback-fields: [realmId]';
const settings = {
  provider: `provider: github\n    ${lists}`,
  relay: 'resources:\n  api: { url: https://api.example/ }',
  frontEnds: `  shop: { origin: https://app.relay.example, token-delivery: session }
  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer }
  plain: { origin: https://plain.example }
  blog: { origin: https://blog.example, token-delivery: cms, refresh-tokens: bearer }
  wiki: { origin: https://wiki.example, token-delivery: code, refresh-tokens: bearer, resources: [api] }
`,
};
const instance = 'https://example.my.salesforce.com';
const realm = '9130350000000000000';

describe('fields that a provider gives in addition to its tokens', () => {
  const relay = relayOfFile(async () => {
    const started = await ClientsRelay.listen();
    await started.restart(settings);
    return started;
  });
  let count = 0;
  /** The next answer of the provider's token endpoint. */
  function answerWith(more: object): void {
    count += 1;
    const tokens = {
      access_token: `at-${count}`,
      refresh_token: `rt-${count}`,
      token_type: 'bearer',
      expires_in: 3600,
    };
    const answer = json({ ...tokens, secret_sauce: 'not listed', ...more });
    relay().provider.onToken = answer;
    relay().provider.onRefresh = answer;
  }
  beforeEach(() => {
    relay().lines.length = 0;
    answerWith({ instance_url: instance, signature: 's' });
  });

  const withRealm = (callback: string, realmId = realm) => `${callback}&realmId=${encodeURIComponent(realmId)}`;

  /** Logs in at a front end. Returns the end of the login, and the token answer. */
  async function logIn(name: string, origin: string, realmId = realm) {
    const start = oauthStart({ client_id: name, redirect_uri: `${origin}/` });
    const browser = relay().browser();
    const asked = locationOf(await relay().open(browser, start.parameters));
    const location = locationOf(await browser.open(withRealm(granted(relay().provider, asked), realmId)));
    const code = location.searchParams.get('code') ?? '';
    const tokens = jsonOf(await relay().redeem(start, code, {}, [['Origin', origin]]));
    return { location, tokens, code };
  }
  const logInToApp = (realmId?: string) => logIn('app', 'https://app.example', realmId);
  const refresh = async (tokens: Readonly<Record<string, unknown>>) =>
    jsonOf(await relay().refresh('app', `${tokens['refresh_token']}`, [['Origin', 'https://app.example']]));
  const warnings = () => relay().lines.filter(({ level, field }) => level === 40 && field !== undefined);

  it('are in the token answer, and no others are, and in no redirect', async () => {
    const { tokens, location } = await logInToApp();
    expect(tokens).to.include({ instance_url: instance, signature: 's', realmId: realm });
    expect(tokens).not.to.have.any.keys('secret_sauce', 'extraFields');
    expect([...location.searchParams.keys()]).to.have.members(['code', 'state', 'iss']);
    expect(warnings()).to.deep.equal([]);
  });

  it('survive refreshes, with the values of the newest answer that has them', async () => {
    const { tokens } = await logInToApp();
    answerWith({ instance_url: 'https://moved.my.salesforce.com' });
    const second = await refresh(tokens);
    const moved = { instance_url: 'https://moved.my.salesforce.com', signature: 's', realmId: realm };
    expect(second).to.include(moved).and.not.to.have.property('secret_sauce');
    relay().ahead = 120_000;
    answerWith({});
    expect(await refresh(second)).to.include(moved);
  });

  it('survive where the provider gives no refresh token', async () => {
    answerWith({ instance_url: instance, refresh_token: undefined });
    const { tokens } = await logInToApp();
    expect(await refresh(tokens)).to.include({ instance_url: instance, realmId: realm });
  });

  it('are no more handed over once the operator has taken them off the list', async () => {
    const { tokens } = await logInToApp();
    await relay().reload({ ...settings, provider: 'provider: github\n    token-fields: [signature]' });
    answerWith({ instance_url: instance });
    try {
      const next = await refresh(tokens);
      expect(next).to.include({ signature: 's' }).and.not.to.have.any.keys('instance_url', 'realmId');
    } finally {
      await relay().reload(settings);
    }
  });

  it('are told by the description of a session, at its login and after a refresh', async () => {
    const page = new SessionPage(relay, relay().provider);
    const asked = locationOf(await page.browser.open(`${loginPath}/shop`));
    const end = locationOf(await page.browser.open(withRealm(granted(relay().provider, asked))));
    expect(end.href).to.equal('https://app.relay.example/');
    const { expires_in: _, ...session } = sessionOf(await page.describe());
    const fields = { instance_url: instance, signature: 's', realmId: realm };
    expect(session).to.deep.equal({ provider: 'provider', renewable: true, ...fields });
    answerWith({ signature: 't' });
    expect(sessionOf(await page.refresh())).to.include({ ...fields, signature: 't' });
    expect(sessionOf(await page.describe())).to.include({ ...fields, signature: 't' });
  });

  it('stay in the relay in the plain way, with a CMS, and with a resource', async () => {
    const browser = relay().browser();
    const finish = async (start: string) =>
      await browser.open(withRealm(granted(relay().provider, locationOf(await browser.open(start)))));
    const plain = await finish(`${loginPath}/plain`);
    const popup = await finish(`${loginPath}/blog?provider=github&site_id=x`);
    const { refreshToken } = Object(resultOf(expectCmsPopup(popup, 200), 'github', 'success'));
    const body = JSON.stringify({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: '' });
    const headers: [string, string][] = [
      ['Origin', 'https://blog.example'],
      ['Content-Type', 'application/json'],
      ['Content-Length', `${body.length}`],
    ];
    answerWith({ instance_url: instance });
    const refreshed = await relay().send({ method: 'POST', path: `${loginPath}/blog`, headers, body });
    expect(refreshed.status, `${refreshed.body}`).to.equal(200);
    for (const text of [`${plain.headers.location}`, `${popup.body}`, `${refreshed.body}`]) {
      expect(text).to.contain('at-');
      expect(text).not.to.contain(instance).and.not.to.contain(realm);
      expect(text).not.to.contain('instance_url').and.not.to.contain('realmId');
    }
    relay().provider.onUser = json({ id: 7, login: 'ada' });
    const { tokens } = await logIn('wiki', 'https://wiki.example');
    expect(tokens).to.include.keys('access_token', 'refresh_token');
    expect(tokens).not.to.have.any.keys('instance_url', 'signature', 'realmId');
  });

  describe('that cannot be used', () => {
    const unusable = [
      7,
      true,
      null,
      { a: 1 },
      ['x'],
      '',
      'x'.repeat(513),
      '🔑'.repeat(129),
      '\u0001'.repeat(86),
      '\ud800',
    ];
    it('are left out, and named in one warning for each field, without the value', async () => {
      await relay().restart(settings);
      for (const value of unusable) {
        answerWith({ instance_url: value, signature: 's' });
        const { tokens } = await logInToApp();
        expect(tokens).to.include({ signature: 's', realmId: realm }).and.not.to.have.property('instance_url');
      }
      const { tokens } = await logInToApp('y'.repeat(513));
      expect(tokens).to.not.have.property('realmId');
      await logInToApp('y'.repeat(10_000));
      expect(warnings().map(({ field, frontEnd, registration }) => [field, frontEnd, registration])).to.deep.equal([
        ['instance_url', 'app', 'provider'],
        ['realmId', 'app', 'provider'],
      ]);
      expect(JSON.stringify(relay().lines)).not.to.match(/y{100}|x{100}/);
    });

    it('are at most 512 bytes', async () => {
      answerWith({ instance_url: '🔑'.repeat(128), signature: 's' });
      const { tokens } = await logInToApp('y'.repeat(512));
      expect(tokens).to.include({ instance_url: '🔑'.repeat(128), realmId: 'y'.repeat(512) });
    });

    it('refuse the login if a listed parameter of the callback is repeated', async () => {
      const start = oauthStart({ client_id: 'app' });
      const browser = relay().browser();
      const asked = locationOf(await relay().open(browser, start.parameters));
      relay().provider.calls.length = 0;
      const end = locationOf(await browser.open(withRealm(withRealm(granted(relay().provider, asked)), '1')));
      expect(end.searchParams.get('error')).to.equal('invalid_request');
      expect(end.searchParams.has('code')).to.equal(false);
      expect(relay().provider.calls).to.deep.equal([]);
    });
  });

  it('change no object, and reach neither headers nor log', async () => {
    const evil = 'a\r\nSet-Cookie: evil=1\u2028<script>';
    const text = `{"access_token":"at","token_type":"bearer","expires_in":60,"__proto__":{"instance_url":"polluted"},"constructor":"c","signature":${JSON.stringify(evil)}}`;
    relay().provider.onToken = reply(200, text);
    const start = oauthStart({ client_id: 'app' });
    const browser = relay().browser();
    const asked = locationOf(await relay().open(browser, start.parameters));
    const location = locationOf(await browser.open(withRealm(granted(relay().provider, asked), evil)));
    const answer: Answer = await relay().redeem(start, location.searchParams.get('code') ?? '', {}, [
      ['Origin', 'https://app.example'],
    ]);
    expect(jsonOf(answer)).to.include({ signature: evil, realmId: evil }).and.not.to.have.property('instance_url');
    expect(Object.hasOwn(jsonOf(answer), 'constructor')).to.equal(false);
    expect(({} as Record<string, unknown>)['instance_url']).to.equal(undefined);
    expect(answer.rawHeaders.join()).not.to.contain('evil');
    expect(JSON.stringify(relay().lines)).not.to.contain('evil');
  });
});
