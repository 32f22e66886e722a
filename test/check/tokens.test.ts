import { expect } from 'chai';
import { createNaming } from '../../src/check/context.ts';
import { checkTokens } from '../../src/check/tokens.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { type Given, readWhole } from '../config/support/read.ts';

/** The findings on the tokens of a configured provider, as `verdict subject: message → fix`. */
function findings(flags: Given['flags'], changes: Partial<Provider> = {}): string[] {
  const { config, readings } = readWhole({ flags: { provider: 'gitlab', ...flags } });
  const [registration] = config.registrations;
  const [frontEnd] = config.frontEnds;
  if (frontEnd === undefined) throw new Error('there is no front end');
  if (!('known' in registration.provider)) throw new Error('the provider is not known');
  const provider = { ...registration.provider.known, ...changes };
  const naming = createNaming(readings, registration.name, frontEnd.name);
  return checkTokens({ ...naming, config, registration, frontEnd, provider }).map(
    ({ verdict, subject, message, fix }) => `${verdict} ${subject}: ${message}${fix === null ? '' : ` → ${fix}`}`,
  );
}

/** The findings on a single subject. */
function about(subject: string, ...given: Parameters<typeof findings>): string | undefined {
  const [finding, ...others] = findings(...given).filter((one) => one.includes(` ${subject}: `));
  expect(others).to.deep.equal([]);
  return finding;
}

describe('login-relay check, about tokens', () => {
  it('says what a page gets from a provider that gives refresh tokens', () => {
    expect(about('refresh', {})).to.equal('ok refresh: the provider gives refresh tokens');
    expect(about('refresh', { provider: 'google' })).to.equal(
      'ok refresh: the provider gives refresh tokens; logins with PKCE ask for them with access_type=offline and prompt=consent',
    );
  });

  it('says what a page gets from a provider that gives none, or only to some applications', () => {
    expect(about('refresh', {}, { refreshTokens: 'never' })).to.match(/^ok .* can get its access/);
    expect(about('refresh', { provider: 'github' })).to.match(/^not_checked .* is set up for it; .* → look at/);
    const okta = { provider: 'okta', providerHost: 'example.okta.com' };
    expect(about('refresh', okta)).to.include('with scope offline_access; without one,');
  });

  it('reports it as not checked if the provider is configured by hand', () => {
    const tokenUrl = 'https://id.example.com/token';
    expect(about('refresh', { tokenUrl })).to.match(/^not_checked refresh: only a login shows/);
  });

  it('says that no page gets a refresh token without a key file, or if they are off', () => {
    const baseUrl = 'https://login.example.com';
    expect(about('refresh', { baseUrl })).to.match(/^ok .* no page gets .* there is no key file$/);
    const off = { refreshTokens: 'off' };
    expect(about('refresh', off)).to.match(/^ok .* no page gets .* they are off$/);
  });

  it('says where tokens are revoked, and which kinds', () => {
    expect(about('revocation', {})).to.equal('ok revocation: tokens are revoked, at https://gitlab.com/oauth/revoke');
    expect(about('revocation', { provider: 'github' })).to.equal(
      'ok revocation: only access tokens are revoked, at https://api.github.com/applications/client/token',
    );
    const auth0 = { provider: 'auth0', providerHost: 'example.auth0.com' };
    expect(about('revocation', auth0)).to.include('only refresh tokens are revoked, at https://example');
    expect(about('revocation', { provider: 'bitbucket' })).to.match(
      /^ok .* tokens stay valid until they end: .* --revocation-url \(PROVIDER_REVOCATION_URL\) can/,
    );
  });

  it('says how sessions are renewed', () => {
    const flags = {
      tokenDelivery: 'session',
      origin: 'http://localhost:5173',
      provider: 'entra',
      providerTenant: 'common',
    };
    expect(about('refresh', flags)).to.equal(
      'ok refresh: the provider gives refresh tokens; logins ask for them with scope offline_access; without a refresh token, a session ends with its access token',
    );
    expect(about('token delivery', flags)).to.equal(undefined);
  });

  it('warns if a provider without PKCE has OAuth logins, and callbacks without a state are accepted', () => {
    const bitbucket = { provider: 'bitbucket' };
    expect(about('token delivery', bitbucket)).to.match(
      /^not_checked .* could be exchanged by anyone → .* --token-delivery .* code$/,
    );
    for (const flags of [
      {},
      { ...bitbucket, tokenDelivery: 'code' },
      { ...bitbucket, stateCheck: 'always' },
      { ...bitbucket, pkce: 'on' },
    ]) {
      expect(about('token delivery', flags)).to.equal(undefined);
    }
  });

  it('reports nothing if the state check is off, so that there are no OAuth logins', () => {
    expect(findings({ stateCheck: 'off' })).to.deep.equal([]);
  });
});
