import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { Context } from '../http/context.ts';
import type { Registration } from '../login/registration.ts';
import { isCredential } from '../oauth/authorization-header.ts';
import type { SessionContent } from '../session/content.ts';
import type { Sessions } from '../session/sessions.ts';
import type { SessionGuard } from './session-guard.ts';

/** What endpoints need that sessions authorize. */
export type SessionAccess = ReturnType<typeof createSessionAccess>;

export function createSessionAccess(
  sessions: Sessions,
  guard: SessionGuard,
  registrations: readonly Registration[],
  now: Clock,
) {
  const byName = new Map(registrations.map((registration) => [registration.name, registration]));
  return {
    sessions,
    guard,
    /**
     * The registration of a session, unless its provider or client is another one by now. Throws as `provider` does.
     */
    registrationOf({ registration, audience }: SessionContent): Registration | undefined {
      const found = byName.get(registration)?.pinned();
      return found?.audience() === audience ? found : undefined;
    },
    now,
  };
}

/** A session that a request may use. */
export interface OpenSession {
  readonly session: SessionContent;
  readonly registration: Registration;
}

/**
 * The session of a request, if it comes from the page of the session's front end.
 *
 * @param name the front end, if the path decides it
 * @throws {RelayError} `session_missing`, why the guard does not let the request pass, and as `provider` does
 */
export async function openSession(
  ctx: Context,
  { sessions, guard, registrationOf }: SessionAccess,
  name?: string,
): Promise<OpenSession> {
  const frontEnd = guard.pass(ctx, name);
  const session = await sessions.read(ctx, frontEnd.name);
  const registration = session && registrationOf(session);
  if (session === undefined || registration === undefined) throw new RelayError('session_missing');
  ctx.state.registration = registration.name;
  return { session, registration };
}

/**
 * The access token of a session.
 *
 * @throws {RelayError} `session_token_expired`, or `token_malformed` if no header can carry it
 */
export function usableToken(
  { accessToken, accessTokenEndsAt }: SessionContent,
  now: Clock,
): string {
  const isOver = accessTokenEndsAt !== undefined && now() >= accessTokenEndsAt * 1000;
  if (isOver) throw new RelayError('session_token_expired');
  if (!isCredential(accessToken)) throw new RelayError('token_malformed');
  return accessToken;
}
