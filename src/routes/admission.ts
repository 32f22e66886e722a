import type { Allow } from '../access/allow.ts';
import { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import type { Registration } from '../login/registration.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';

/** Where a person logs in. */
interface Place {
  readonly registration: Registration;
  readonly frontEnd: { readonly name: string; readonly allow: Allow | undefined };
}

/** The tokens of a login. */
type Tokens = RevocableTokens & { readonly accessToken: string };

/**
 * Lets only those pass who may log in at the registration and at the front end. The tokens of a refused person are
 * revoked.
 *
 * @returns undefined if everybody may log in. It throws a `RelayError`: `access_refused`, `access_unchecked`, or
 *   `token_invalid` if the provider does not know the access token
 */
export function admissionTo({ registration, frontEnd }: Place, ctx: Context) {
  const owners = [
    { name: `providers.${registration.name}`, allow: registration.allow },
    { name: `front-ends.${frontEnd.name}`, allow: frontEnd.allow },
  ].flatMap(({ name, allow }) => (allow === undefined ? [] : [{ name, allow }]));
  if (owners.length === 0) return undefined;
  const allows = owners.map(({ allow }) => allow);
  return async (tokens: Tokens): Promise<void> => {
    try {
      await registration.expectAllowed(tokens.accessToken, allows, (call) => {
        // The record has room for one call: the one that decides.
        const hasFailed = call.outcome !== 'answered' || (call.status ?? 0) >= 400;
        if (hasFailed || ctx.state.providerCall === undefined) ctx.state.providerCall = call;
      });
      ctx.state.access = 'allowed';
    } catch (error) {
      const refusedBy = error instanceof RelayError ? error.refusedBy : undefined;
      ctx.state.access = refusedBy === undefined ? 'unchecked' : 'refused';
      if (refusedBy !== undefined) {
        ctx.state.refusedBy = owners[refusedBy]?.name;
        void revoke(registration, tokens);
      }
      throw error;
    }
  };
}

/** The same at a login: the provider must know the tokens, which it has issued a moment ago. */
export async function admit(place: Place, ctx: Context, tokens: Tokens): Promise<void> {
  await admissionTo(
    place,
    ctx,
  )?.(tokens).catch((error: unknown) => {
    throw isOf(error, 'token_invalid') ? new RelayError('access_unchecked') : error;
  });
}

/**
 * Throws what a refresh answers: whoever may not log in any more has to log in again.
 *
 * @param isNew whether the provider has issued the access token a moment ago
 */
export function failRefresh(error: unknown, isNew: boolean): never {
  if (isOf(error, 'access_refused')) throw new RelayError('access_ended');
  if (!isOf(error, 'token_invalid')) throw error;
  throw new RelayError(isNew ? 'access_unchecked' : 'refresh_refused');
}

function isOf(error: unknown, code: RelayError['code']): boolean {
  return error instanceof RelayError && error.code === code;
}

/** Nobody waits for it, or gets its failure. */
async function revoke(registration: Registration, { accessToken, refreshToken }: Tokens) {
  // Some providers keep the access token when its refresh token is revoked. @see RFC 7009 §2.1
  const each = [...(refreshToken === undefined ? [] : [{ refreshToken }]), { accessToken }];
  const calls = each.map((token) => registration.revokeToken(token, () => {}));
  await Promise.allSettled(calls);
}
