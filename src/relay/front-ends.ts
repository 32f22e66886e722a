import type { Logger } from 'pino';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { FrontEnd, FrontEnds } from '../login/front-end.ts';
import type { States } from '../login/state.ts';
import { scopeBeyond } from '../oauth/scope.ts';
import { isFamily, matches, matchesAny } from '../origins/origin-pattern.ts';
import { type DeliveryContext, deliveryOf, takesOAuth } from './deliveries.ts';
import { failurePageOf } from './failure-answers.ts';
import {
  audienceOfFrontEnd,
  cmsBackendOf,
  frontEndsOf,
  issuerOf,
  refreshPolicyOf,
} from './registration-config.ts';

/** What a registration issues to its front ends. */
type Issued = Pick<DeliveryContext, 'audience' | 'codes' | 'sessions'> & {
  readonly states: States;
};

/** Words of a scope in one line of the log. */
const mostLogged = 20;
/** @see RFC 6749 §3.3 */
const isScopeWord = (word: string) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(word);

/**
 * The configured front ends that may use one registration.
 *
 * @param logger gets a warning for each front end whose logins get more than its scope
 * @throws {Error} if there are none
 */
export function createFrontEnds(
  config: Config,
  registration: RegistrationConfig,
  issued: Issued,
  logger: Pick<Logger, 'warn'>,
): FrontEnds {
  const users = frontEndsOf(config, registration);
  const byName = new Map(users.map((frontEnd) => [frontEnd.name, frontEnd]));
  const firstOf = (...deliveries: FrontEndConfig['tokenDelivery'][]) =>
    users.find(({ tokenDelivery }) => deliveries.includes(tokenDelivery));
  const firstCms = firstOf('cms');
  const first = firstOf('query', 'fragment', 'session') ?? firstCms ?? users[0];
  const [firstForOAuth, secondForOAuth] = users.filter(takesOAuth);
  if (first === undefined) throw new Error('no front end may use the registration');
  const getRefreshTokens = refreshPolicyOf(config) !== undefined;
  const warned = new Set<string>();
  const create = (frontEnd: FrontEndConfig): FrontEnd => ({
    ...createFrontEnd(config, registration, frontEnd, issued),
    // A session never gives its refresh token to the page, whatever pages get.
    asksForRefresh: getRefreshTokens || frontEnd.tokenDelivery === 'session',
    reportScope(granted, whole) {
      const { name } = frontEnd;
      const beyond = scopeBeyond(granted, frontEnd.scope ?? whole).filter(isScopeWord);
      if (beyond.length === 0 || warned.has(name)) return;
      warned.add(name);
      const scope = beyond.slice(0, mostLogged).join(' ');
      const line = { frontEnd: name, registration: registration.name, scope };
      logger.warn(line, 'the provider grants more than the configured scope');
    },
  });
  const byDefault = create(first);
  return {
    has: (name) => byName.has(name),
    // Others are created for each request: a thousand front ends at a hundred registrations would need much memory.
    find(name) {
      if (name === first.name) return byDefault;
      const found = byName.get(name);
      return found && create(found);
    },
    byDefault,
    byDefaultForOAuth: secondForOAuth ? undefined : firstForOAuth && create(firstForOAuth),
    firstCms: firstCms && create(firstCms),
    isOnlyOne: users.length === 1,
    hasOrigin: matchesAny(users.map(({ origin }) => origin)),
  };
}

function createFrontEnd(
  config: Config,
  registration: RegistrationConfig,
  frontEnd: FrontEndConfig,
  { states, ...issued }: Issued,
): Omit<FrontEnd, 'reportScope' | 'asksForRefresh'> {
  const { name, origin, redirectUris, scope, tokenDelivery } = frontEnd;
  const hasSessions = tokenDelivery === 'session';
  const cmsBackend = tokenDelivery === 'cms' ? cmsBackendOf(registration)?.name : undefined;
  const answerInPlace = failurePageOf(config, registration, frontEnd, states);
  const context: DeliveryContext = {
    frontEnd,
    ...issued,
    registration: registration.name,
    issuer: issuerOf(config, registration),
    cmsBackend,
    answerInPlace,
  };
  return {
    name,
    audience: audienceOfFrontEnd(frontEnd),
    scope,
    redirectUris,
    hasOrigin: (given) => matches(origin, given),
    pkceRequired: tokenDelivery === 'code',
    takesOAuth: takesOAuth(frontEnd),
    sessionOrigin: hasSessions ? origin : undefined,
    cmsBackend,
    answerInPlace,
    // Its origins, such as previews of branches, can have different authors.
    keyRequired: isFamily(origin),
    deliveryOf: (request) => deliveryOf(context, request),
  };
}
