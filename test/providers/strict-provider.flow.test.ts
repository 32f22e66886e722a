import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { expectUser } from '../harness/expect/expectations.ts';
import { metadata, oauthPath } from '../harness/provider/metadata.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import {
  loginPath,
  redirectUri,
  registration,
  useRelays,
} from '../harness/relay/relay-under-test.ts';

describe('an issuer with a path that has only OAuth metadata', () => {
  const startRelay = useRelays();
  const path = '/tenants/one';
  let provider: StrictProvider;

  before(async () => {
    provider = await StrictProvider.start(registration());
    provider.pages = {
      [oauthPath + path]: json(
        metadata(provider.origin + path, {
          authorization_endpoint: provider.authorizeUrl,
          token_endpoint: provider.tokenUrl,
          userinfo_endpoint: undefined,
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        }),
      ),
    };
  });
  after(() => provider.stop());

  it('logs in with a token request by query and a user lookup given by hand', async () => {
    const relay = await startRelay({
      client: provider.registration,
      flags: {
        issuer: provider.origin + path,
        'user-url': provider.userUrl,
        'token-request': 'query',
        scope: 'profile',
      },
    });
    const browser = new FakeBrowser(() => relay);
    browser.detour = (url) => {
      if (!url.href.startsWith(provider.authorizeUrl)) return;
      expect(url.searchParams.get('scope')).to.equal('profile');
      const answer = new URLSearchParams({
        code: provider.authorize(url),
        state: url.searchParams.get('state') ?? '',
        iss: provider.origin + path,
      });
      url.href = `${redirectUri}?${answer}`;
    };
    const { url } = await browser.visit(loginPath);
    const [code = ''] = provider.credentials('token');
    expect(url.searchParams.get('access_token')).to.equal(provider.tokenFor(code));
    expectUser(await relay.userOf(provider.tokenFor(code) ?? ''));
    expect(provider.calls[0]?.codeVerifier).to.be.a('string');
    expect(provider.violations).to.deep.equal([]);
  });
});
