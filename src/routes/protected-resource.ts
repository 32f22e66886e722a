import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { type AnswerFailure, answerFailures, answerWith } from '../http/error-responder.ts';
import { requireResourceToken } from '../oauth/authorization-header.ts';
import { parseQuery } from '../oauth/query.ts';
import { type Doors, type Entered, enter } from '../resources/door.ts';
import { buildIdentityHeaders } from '../resources/identity-headers.ts';
import type { Resource } from '../resources/resource.ts';
import { resourceMetadataUrl } from './resource-metadata.ts';

/**
 * `GET /auth/check/<resource>`: tells a reverse proxy whether a request may pass, and who sends it.
 *
 * @see RFC 6750 §3, RFC 9728 §5.1
 */
export function checkRequest(doors: Doors): Handler {
  const [{ resource }] = doors;
  return async (ctx: Context) => {
    ctx.state.resource = resource.name;
    const entered = await enter(doors, requireToken(ctx));
    recordCaller(ctx, entered);
    ctx.set(buildIdentityHeaders(entered.opened));
    ctx.status = 204;
  };
}

/** Records to whom a door has opened. @param by what a person showed */
export function recordCaller(
  { state }: Context,
  { door, opened: { sub, credential } }: Entered,
  by: 'cookie' | 'token' = 'token',
): void {
  state.registration = door.resource.registration;
  state.person = sub;
  state.by = credential === undefined ? by : 'machine';
}

/** Answers the failures of requests to a resource with its challenge. */
export function answerWithChallenge(resource: Resource): Handler {
  return answerFailures(createChallengeAnswer(resource));
}

/** Creates the answer to failures at a resource. Its challenge tells clients where to log in. */
export function createChallengeAnswer({ url, scope }: Pick<Resource, 'url' | 'scope'>): AnswerFailure {
  const metadataPart = `Bearer resource_metadata="${resourceMetadataUrl({ url })}"`;
  const scopePart = scope === undefined ? '' : `, scope="${scope}"`;
  return (ctx, failure) => {
    const { oauthError: error, detail } = failure;
    // No `error` for a client that has sent no token. @see RFC 6750 §3.1
    const errorPart = failure.code === 'resource_token_missing' ? '' : `, error="${error}"`;
    answerWith(ctx, failure, { error, error_description: detail, detail });
    if (failure.status === 400 || failure.status === 401) {
      ctx.set('WWW-Authenticate', `${metadataPart}${errorPart}${scopePart}`);
    }
  };
}

/**
 * The bearer token of a request.
 *
 * @throws {RelayError} `resource_token_missing`, `resource_token_misplaced` or `resource_token_invalid`
 */
export function requireToken(ctx: Context): string {
  // The query of the request that a reverse proxy asks about.
  const [, askedQuery = ''] = /\?(.*)$/s.exec(ctx.get('X-Forwarded-Uri')) ?? [];
  const isInQuery = [ctx.querystring, askedQuery].some((query) => 'access_token' in parseQuery(query));
  if (isInQuery) throw new RelayError('resource_token_misplaced');
  return requireResourceToken(ctx.req.headersDistinct['authorization'] ?? []);
}
