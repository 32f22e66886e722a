import type { LoginConfig } from '../config/login-config.ts';
import { issuesRefreshTokens } from '../config/login-config.ts';
import type { Naming } from '../config/reading.ts';
import type { Provider } from '../providers/provider.ts';
import { type Finding, notChecked, ok } from './finding.ts';
import { checkLogout, checkRenewal } from './session.ts';

/** Says whether pages can renew their tokens, where tokens are revoked, and what the delivery leaves open. */
export function checkTokens(config: LoginConfig, provider: Provider, naming: Naming): Finding[] {
  // Without a state check, there are no OAuth logins and no refresh tokens to revoke.
  if (config.stateCheck === 'off') return [];
  if (config.tokenDelivery === 'session') {
    return [
      checkRenewal(provider, askedFor(provider, 'logins')),
      checkRevocation(provider, naming),
      checkLogout(provider),
    ];
  }
  return [
    checkRefresh(config, provider, naming),
    checkRevocation(provider, naming),
    ...checkDelivery(config, provider, naming),
  ];
}

function checkRefresh(config: LoginConfig, provider: Provider, { describe }: Naming): Finding {
  const subject = 'refresh';
  if (!issuesRefreshTokens(config)) {
    const why = config.refreshTokens === 'off' ? 'they are off' : 'there is no key file';
    return ok(subject, `no page gets a refresh token: ${why}`);
  }
  const asked = askedFor(provider);
  if (provider.refreshTokens === 'always') {
    return ok(subject, `the provider gives refresh tokens${asked && `; ${asked}`}`);
  }
  if (provider.refreshTokens === 'never') {
    return ok(
      subject,
      `no refresh tokens are expected from the provider; without them, ${untilEnd}`,
    );
  }
  if (provider.refreshTokens === 'by-setting') {
    return notChecked(
      subject,
      `the provider gives refresh tokens if the application is set up for it${asked && `; ${asked}`}; without one, ${untilEnd}`,
      'look at the settings of the application at the provider',
    );
  }
  return notChecked(
    subject,
    `only a login shows whether the provider gives refresh tokens${asked && `; ${asked}`}; without one, ${untilEnd}`,
    `if the provider wants another scope or parameter, set ${describe('scope')} or ${describe('authorizeParams')}`,
  );
}

const untilEnd = 'a page can get its access token again until that token ends';

/** What the relay adds to logins, as text; empty if it adds nothing. */
function askedFor(
  { refreshRequest: { scope, parameters = [] } = {} }: Provider,
  logins = 'logins with PKCE',
): string {
  const added = [
    ...(scope === undefined ? [] : [`scope ${scope}`]),
    ...parameters.map((parameter) => parameter.join('=')),
  ];
  return added.length === 0 ? '' : `${logins} ask for them with ${added.join(' and ')}`;
}

function checkRevocation({ revocation }: Provider, { describe }: Naming): Finding {
  const subject = 'revocation';
  if (revocation === undefined) {
    const remedy = `${describe('revocationUrl')} can name one`;
    return ok(
      subject,
      `tokens stay valid until they end: no revocation endpoint is known. ${remedy}`,
    );
  }
  const kinds = { access_token: 'access tokens', refresh_token: 'refresh tokens' };
  const which = revocation.takes === undefined ? 'tokens' : `only ${kinds[revocation.takes]}`;
  return ok(subject, `${which} are revoked, at ${revocation.url}`);
}

function checkDelivery(
  { tokenDelivery, stateCheck }: LoginConfig,
  { pkce }: Provider,
  { describe }: Naming,
): Finding[] {
  if (tokenDelivery === 'code' || stateCheck === 'always' || pkce) return [];
  return [
    notChecked(
      'token delivery',
      'callbacks without a state are served, and logins at this provider have no PKCE: if pages log in with PKCE at the relay, a code that leaks from such a login could be exchanged by anyone',
      `once all pages use PKCE, set ${describe('tokenDelivery')} to code`,
    ),
  ];
}
