import { refreshPolicyOf } from '../config/registration-config.ts';
import type { ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

type OfflineContext = Omit<ProviderContext, 'client'>;

/**
 * Says whether pages or sessions can renew their tokens, where tokens are revoked, and what the delivery leaves open.
 */
export function checkTokens(context: OfflineContext): Finding[] {
  // Without a state check, there are no OAuth logins and no refresh tokens to revoke.
  if (context.registration.stateCheck === 'off') return [];
  return [checkRefresh(context), checkRevocation(context), ...checkDelivery(context)];
}

const refreshTokens = {
  always: 'the provider gives refresh tokens',
  never: 'no refresh tokens are expected from the provider',
  'by-setting': 'the provider gives refresh tokens if the application is set up for it',
  unknown: 'only a login shows whether the provider gives refresh tokens',
};

/** Says whether the provider gives refresh tokens, and what happens to logins without one. Neither is a fault. */
function checkRefresh({ config, frontEnd, provider, describe }: OfflineContext): Finding {
  const { ok, notChecked } = findingsOn('refresh');
  const isSession = frontEnd.tokenDelivery === 'session';
  if (!isSession && refreshPolicyOf(config, frontEnd) === undefined) {
    const why = frontEnd.refreshTokens === 'off' ? 'they are off' : 'there is no key file';
    return ok(`no page gets a refresh token: ${why}`);
  }
  const gives = provider.refreshTokens ?? 'unknown';
  const { scope, parameters = [] } = provider.refreshRequest ?? {};
  const asked = [
    ...(scope === undefined ? [] : [`scope ${scope}`]),
    ...parameters.map((parameter) => parameter.join('=')),
  ].join(' and ');
  const logins = isSession ? 'logins' : 'logins with PKCE';
  const said = `${refreshTokens[gives]}${asked && `; ${logins} ask for them with ${asked}`}`;
  if (isSession) {
    return ok(`${said}; without a refresh token, a session ends with its access token`);
  }
  const untilEnd = 'a page can get its access token again until that token ends';
  if (gives === 'always') return ok(said);
  if (gives === 'never') return ok(`${said}; without them, ${untilEnd}`);
  return notChecked(
    `${said}; without one, ${untilEnd}`,
    gives === 'by-setting'
      ? 'look at the settings of the application at the provider'
      : `if the provider wants another scope or parameter, set ${describe('scope')} or ${describe('authorizeParams')}`,
  );
}

function checkRevocation({ provider: { revocation }, describe }: OfflineContext): Finding {
  const { ok } = findingsOn('revocation');
  if (revocation === undefined) {
    const remedy = `${describe('revocationUrl')} can name one`;
    return ok(`tokens stay valid until they end: no revocation endpoint is known. ${remedy}`);
  }
  const kinds = { access_token: 'access tokens', refresh_token: 'refresh tokens' };
  const which = revocation.takes === undefined ? 'tokens' : `only ${kinds[revocation.takes]}`;
  return ok(`${which} are revoked, at ${revocation.url}`);
}

/** Warns if a leaked code of the provider can be used here, because neither a state nor PKCE binds it to its login. */
function checkDelivery({ registration, frontEnd, provider, describe }: OfflineContext): Finding[] {
  const isBound = registration.stateCheck === 'always' || provider.pkce;
  if (frontEnd.tokenDelivery === 'code' || isBound) return [];
  return [
    findingsOn('token delivery').notChecked(
      'callbacks without a state are served, and logins at this provider have no PKCE: if pages log in with PKCE at the relay, a code that leaks from such a login could be exchanged by anyone',
      `once all pages use PKCE, set ${describe('tokenDelivery')} to code`,
    ),
  ];
}
