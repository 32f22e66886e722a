import { refreshPolicyOf } from '../config/relations.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';

type OfflineContext = Omit<ProviderContext, 'client'>;

/**
 * Says whether pages or sessions can renew their tokens, where tokens are revoked, and whether a leaked code could be
 * used. It makes no calls.
 */
export function checkTokens(context: OfflineContext): Finding[] {
  // Without a state check, there are no OAuth logins and no refresh tokens to revoke.
  if (context.registration.stateCheck === 'off') return [];
  return [checkRefresh(context), checkRevocation(context), ...checkLeakedCodes(context)];
}

/** Descriptions by what a preset says about the provider's refresh tokens. */
const refreshTokens = {
  always: 'the provider gives refresh tokens',
  never: 'no refresh tokens are expected from the provider',
  'by-setting': 'the provider gives refresh tokens if the application is set up for it',
  unknown: 'only a login shows whether the provider gives refresh tokens',
};

/** Says whether the provider gives refresh tokens, and how logins without a refresh token end. */
function checkRefresh({ config, frontEnd, provider, describe }: OfflineContext): Finding {
  const { ok, notChecked } = findingsOn('refresh');
  const isSession = frontEnd.tokenDelivery === 'session';
  if (!isSession && refreshPolicyOf(config, frontEnd) === undefined) {
    const why = frontEnd.refreshTokens === 'off' ? 'they are off' : 'there is no key file';
    return ok(`no page gets a refresh token: ${why}`);
  }
  const whenGiven = provider.refreshTokens ?? 'unknown';
  const requested = describeRefreshRequest(provider);
  const logins = isSession ? 'logins' : 'logins with PKCE';
  const message = `${refreshTokens[whenGiven]}${requested && `; ${logins} ask for them with ${requested}`}`;
  if (isSession) {
    return ok(`${message}; without a refresh token, a session ends with its access token`);
  }
  const untilEnd = 'a page can get its access token again until that token ends';
  if (whenGiven === 'always') return ok(message);
  if (whenGiven === 'never') return ok(`${message}; without them, ${untilEnd}`);
  const fix =
    whenGiven === 'by-setting'
      ? 'look at the settings of the application at the provider'
      : `if the provider wants another scope or parameter, set ${describe('scope')} or ${describe('authorizeParams')}`;
  return notChecked(`${message}; without one, ${untilEnd}`, fix);
}

/** Names the scope and the parameters with which logins ask for refresh tokens; empty if the provider needs none. */
function describeRefreshRequest({ refreshRequest }: Provider): string {
  const { scope, parameters = [] } = refreshRequest ?? {};
  const texts = parameters.map((parameter) => parameter.join('='));
  if (scope !== undefined) texts.unshift(`scope ${scope}`);
  return texts.join(' and ');
}

/** Says which tokens are revoked at a logout, and where. */
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

/** Notes that a leaked code of the provider could be used here, if neither a state nor PKCE binds it to its login. */
function checkLeakedCodes({ registration, frontEnd, provider, describe }: OfflineContext): Finding[] {
  const isBound = registration.stateCheck === 'always' || provider.pkce;
  if (frontEnd.tokenDelivery === 'code' || isBound) return [];
  return [
    findingsOn('token delivery').notChecked(
      'callbacks without a state are served, and logins at this provider have no PKCE: if pages log in with PKCE at the relay, a code that leaks from such a login could be exchanged by anyone',
      `once all pages use PKCE, set ${describe('tokenDelivery')} to code`,
    ),
  ];
}
