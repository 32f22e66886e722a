import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { GrantMemory } from '../grants/grants.ts';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { paths } from '../paths.ts';
import { logout } from '../routes/logout.ts';
import type { SessionAccess } from '../routes/open-session.ts';
import { answerSessionFailures, describeSession, refreshSession } from '../routes/session.ts';

/**
 * Adds the endpoints of sessions, which are the same at every registration.
 *
 * @param limited the rate limit, if there is one
 */
export function addSessionEndpoints(
  router: Router<RequestState>,
  access: SessionAccess,
  memory: GrantMemory,
  limited: readonly Middleware[],
): void {
  const before = (...methods: string[]) => [answerSessionFailures, allow(...methods), ...limited];
  router.all(paths.session, ...before('GET', 'HEAD'), describeSession(access));
  router.all(paths.sessionRefresh, ...before('POST'), refreshSession(access, memory.refreshes));
  router.all(paths.logout, ...before('POST'), logout(access, memory));
}
