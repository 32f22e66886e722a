import type { Logger } from 'pino';
import type { Allow } from '../access/allow.ts';
import { createCmsDelivery } from '../delivery/cms-delivery.ts';
import {
  createAccessTokenDelivery,
  createCodeDelivery,
  createFailureRedirect,
  createSessionDelivery,
  type Delivery,
} from '../delivery/delivery.ts';
import { createFailureAnswer } from '../delivery/failure-page.ts';
import type { Pages } from '../delivery/pages.ts';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import type { Codes } from '../grants/codes.ts';
import type { RefreshPolicy } from '../grants/refresh-tokens.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { FrontEndRequest, OAuthRequest } from '../login/state.ts';
import type { PeekLogin } from '../login/state-check.ts';
import type { ExtraFields } from '../oauth/extra-fields.ts';
import { scopeBeyond } from '../oauth/scope.ts';
import { anyAnswer, contractAnswer } from '../oauth/token-response-format.ts';
import { createOriginMatcher, type OriginPattern } from '../origins/origin-pattern.ts';
import { findRedirectUri, pageOriginsOf, type RedirectUri } from '../origins/redirect-uri.ts';
import type { Resource } from '../resources/resource.ts';
import type { Sessions } from '../session/sessions.ts';
import type { MachineCredentials } from './machine-credentials.ts';

/** A front end as the configuration has it. */
export interface FrontEndSettings {
  /** The `client_id` at the relay. */
  readonly name: string;
  /** Whether it is a page, a program of people (`native`), or a program without a person (`machine`). */
  readonly kind: 'page' | 'native' | 'machine';
  readonly credentials?: MachineCredentials | undefined;
  /** The `hashClient` of the unregistered client that this front end stands for. */
  readonly client?: string;
  /**
   * The URL of the resource whose browsers it logs in. This front end is the relay itself, and no request can name it.
   */
  readonly door?: string;
  /** Set if people are asked before each login, because the client is unregistered. */
  readonly asksPeople?: boolean;
  /** The origin of its pages. Undefined for a program, and for a CMS at several addresses. */
  readonly origin: OriginPattern | undefined;
  /** All origins of its pages, or for a native front end the origins of its apps and extensions. */
  readonly origins: readonly OriginPattern[];
  /** The page of a front end with one origin. Without it, a front end takes only OAuth logins, unless it is a CMS. */
  readonly frontendUrl: string | undefined;
  /** The pages that an OAuth request may name. The first is the default. */
  readonly redirectUris: readonly RedirectUri[];
  /** The scope of its logins, which an OAuth request can narrow. Undefined for the scope of the registration. */
  readonly scope: string | undefined;
  /** Which people of the registration may log in here. Undefined if all may. */
  readonly allow: Allow | undefined;
  /** The resources that its logins are for. Empty if they are for the provider's API. */
  readonly resources: readonly Resource[];
  /** How it gets tokens. With `session`, it gets none. */
  readonly tokenDelivery: 'query' | 'fragment' | 'code' | 'session' | 'cms';
  readonly errorDelivery: 'json' | 'page' | 'redirect';
  readonly refreshPolicy: RefreshPolicy | undefined;
}

export interface FrontEndContext {
  readonly registration: string;
  /** The relay's name in `iss`, which is also the address of starts. */
  readonly issuer: string;
  /** The audience of the registration. Throws a `RelayError` if no provider is known. */
  readonly audience: () => string;
  readonly peekLogin: PeekLogin;
  readonly codes: Codes;
  readonly sessions: Sessions | undefined;
  /** The backend's name in the configuration of a CMS. Undefined if no CMS supports this provider. */
  readonly cmsBackend: string | undefined;
  readonly isOnlyOne: boolean;
  /** Whether flags alone describe the registration, so that the contract applies. */
  readonly isByFlags: boolean;
  readonly pages: Pages;
  readonly logger: Pick<Logger, 'warn'>;
}

/** The most words of a scope that a log line shows. */
const mostLogged = 20;
/** Whether a log line can show a word of a scope: it is valid, and not too long. @see RFC 6749 §3.3 */
const isLoggableScopeWord = (word: string) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(word);

/**
 * The audience of a front end, to which its codes, refresh tokens and sessions are bound. It includes the origins,
 * because somebody else may acquire a domain later.
 */
export function audienceOfFrontEnd({ name, kind, origins, client }: Audience) {
  const pages = kind === 'page' ? origins.join(' ') : '';
  return client === undefined ? `${name} ${pages}` : `${name} client ${client}`;
}

type Audience = Pick<FrontEndSettings, 'name' | 'kind' | 'origins' | 'client'>;

/** A page or program that logs its users in at one registration. */
export interface FrontEnd extends ReturnType<typeof assembleFrontEnd> {
  /**
   * The front end with the redirect URIs of one of its clients that have no entry of their own.
   *
   * @param client the `hashClient` of the client
   * @param operatorVouches whether the operator made the client's identifier with a client key. Then people are not
   *   asked about the client, and its refresh tokens must be bound to a key
   */
  forClient(client: string, redirectUris: readonly RedirectUri[], operatorVouches: boolean): FrontEnd;
}

/** Creates a front end. Its clients share its settings, and its warnings, which are logged once for all of them. */
export function createFrontEnd(settings: FrontEndSettings, context: FrontEndContext): FrontEnd {
  const reports = {
    reportScope: createScopeReport(settings, context),
    reportMissingFields: createMissingFieldsReport(settings, context),
  };
  const create = (own: FrontEndSettings): FrontEnd => ({
    ...assembleFrontEnd(own, context, reports),
    forClient(client, redirectUris, operatorVouches) {
      const { refreshPolicy: policy } = own;
      const refreshPolicy = policy && operatorVouches ? { ...policy, mode: 'bound' as const } : policy;
      // A client has redirect URIs of its own, and not the front end's page.
      const origins = own.kind === 'native' ? own.origins : [];
      const noPage = { origin: undefined, origins, frontendUrl: undefined };
      const asksPeople = !operatorVouches;
      return create({ ...own, ...noPage, redirectUris, client, asksPeople, refreshPolicy });
    },
  });
  return create(settings);
}

/** Adds to the settings of a front end how it answers failures, and how logins reach it. */
function assembleFrontEnd(settings: FrontEndSettings, context: FrontEndContext, reports: Reports) {
  const { name, origin, frontendUrl, tokenDelivery, errorDelivery } = settings;
  const { issuer, peekLogin, pages } = context;
  const isCms = tokenDelivery === 'cms';
  const needsPkce = tokenDelivery === 'code';
  const takesOAuth = settings.kind !== 'machine' && ['query', 'fragment', 'code'].includes(tokenDelivery);
  const cmsBackend = isCms ? context.cmsBackend : undefined;
  const audience = audienceOfFrontEnd(settings);
  const origins = pageOriginsOf(settings);
  const start = context.isOnlyOne ? issuer : `${issuer}/${name}`;
  const answerInPlace = createFailureAnswer({
    origin,
    frontendUrl,
    // A link cannot start a login with PKCE, or in the popup of a CMS. A page of a resource starts its logins itself.
    loginUrl: settings.door ?? (isCms || needsPkce ? undefined : start),
    isOfDoor: settings.door !== undefined,
    peekLogin,
    pages,
  });

  return {
    ...settings,
    audience,
    origins,
    /** Whether an `Origin` belongs to its pages. */
    hasOrigin: createOriginMatcher(origins),
    takesOAuth,
    /**
     * Whether its OAuth logins and sessions ask the provider for a refresh token. With a session, the page never gets
     * it.
     */
    asksForRefresh: settings.refreshPolicy !== undefined || tokenDelivery === 'session',
    cmsBackend,
    /** Which answers of the token endpoint count if the callback exchanges the code. */
    answerRule:
      context.isByFlags && (tokenDelivery === 'query' || tokenDelivery === 'fragment') ? contractAnswer : anyAnswer,
    /** Answers a failure that must not reach the front end: with a page for people, with JSON for programs. */
    answerInPlace,
    /**
     * Answers failures of requests whose front end is not known yet, with a page or JSON as `errorDelivery` says. The
     * popup of a CMS gets a page, because people see it.
     */
    answerFailure: errorDelivery === 'page' || isCms ? answerInPlace : answerJson,
    ...reports,
    /** Chooses how a login reaches the front end. @param request the request of the start, if it is known */
    deliveryOf: createDeliveries({ ...settings, audience, takesOAuth, cmsBackend, answerInPlace }, context),
  };
}

/** Creates the function that chooses how a login reaches a front end. */
function createDeliveries(
  frontEnd: FrontEndSettings & {
    readonly audience: string;
    readonly takesOAuth: boolean;
    readonly cmsBackend: string | undefined;
    readonly answerInPlace: AnswerFailure;
  },
  context: FrontEndContext,
) {
  const { name, origin, origins, frontendUrl: url, redirectUris, tokenDelivery, errorDelivery } = frontEnd;
  const { audience, takesOAuth, cmsBackend, answerInPlace } = frontEnd;
  const { registration, sessions, pages } = context;

  /** The delivery of a login that must not reach the front end. The relay itself shows why, and exchanges no code. */
  function refusingDelivery(why: FailureCode): Delivery {
    const succeed = () => {
      throw new RelayError(why);
    };
    return { takes: 'code', succeed, fail: answerInPlace };
  }

  /** The delivery of a login with PKCE: a code at the redirect URI, if the front end still has that. */
  function oauthDelivery(oauth: OAuthRequest, state: string | undefined): Delivery {
    // The configuration may have changed since the login started.
    if (!takesOAuth) return refusingDelivery('client_unauthorized');
    const isRegistered = findRedirectUri(oauth.redirectUri, redirectUris) !== undefined;
    if (!isRegistered) return refusingDelivery('redirect_uri_unknown');
    return createCodeDelivery(context, audience, oauth, state);
  }

  /**
   * The delivery of a browser's login at a resource. The challenge is also the `state`, by which the browser's cookie is
   * found. The relay itself shows its failures, because no page there could.
   */
  function doorDelivery(challenge: string): Delivery {
    const [redirectUri] = redirectUris;
    const { door: ownResource } = frontEnd;
    if (ownResource === undefined || redirectUri === undefined) return refusingDelivery('front_end_gone');
    const oauth = { redirectUri, codeChallenge: challenge, ownResource };
    return { ...createCodeDelivery(context, audience, oauth, challenge), fail: answerInPlace };
  }

  /** The delivery of a login without PKCE: to a page, to a CMS, or into a session. */
  function plainDelivery({ state, returnTo }: FrontEndRequest): Delivery {
    if (cmsBackend) return createCmsDelivery(cmsBackend, origins, pages);
    if (tokenDelivery === 'cms' || tokenDelivery === 'code' || url === undefined)
      return refusingDelivery('pkce_required');
    const part = tokenDelivery === 'fragment' ? 'fragment' : 'query';
    const target = { url, part, parameters: { state } } as const;
    const redirect = createFailureRedirect(target, ({ code, oauthError }) =>
      code === 'access_refused' ? oauthError : code,
    );
    const fail = { json: answerJson, page: answerInPlace, redirect }[errorDelivery];
    if (tokenDelivery !== 'session') return createAccessTokenDelivery(target, fail);
    if (sessions === undefined) throw new Error('a front end has sessions, but the relay has none');
    const login = { registration, frontEnd: name };
    // The front end may have got another origin since the login started.
    const page = returnTo?.startsWith(`${origin}/`) ? returnTo : url;
    return createSessionDelivery(sessions, login, page, fail);
  }

  return (request: FrontEndRequest = {}): Delivery => {
    const { oauth, state, door } = request;
    if (door !== undefined) return doorDelivery(door);
    return oauth === undefined ? plainDelivery(request) : oauthDelivery(oauth, state);
  };
}

interface Reports {
  readonly reportScope: ReturnType<typeof createScopeReport>;
  readonly reportMissingFields: ReturnType<typeof createMissingFieldsReport>;
}

/**
 * Creates the function that warns once about each listed field that a login does not have. The log line has no value of
 * a field, because it may be a secret.
 */
function createMissingFieldsReport({ name }: FrontEndSettings, { registration, logger }: FrontEndContext) {
  const reported = new Set<string>();
  return (listed: readonly string[] | undefined, found: ExtraFields | undefined): void => {
    for (const field of listed ?? []) {
      if (reported.has(field) || (found && Object.hasOwn(found, field))) continue;
      reported.add(field);
      const line = { frontEnd: name, registration, field };
      logger.warn(line, 'a listed field is left out: the provider gives no text of at most 512 bytes');
    }
  };
}

/** Creates the function that warns once if the provider grants more than the front end's scope. */
function createScopeReport({ name, scope }: FrontEndSettings, { registration, logger }: FrontEndContext) {
  let isReported = false;
  return (granted: string | undefined, scopeOfRegistration: string | undefined): void => {
    if (isReported) return;
    const beyond = scopeBeyond(granted, scope ?? scopeOfRegistration).filter(isLoggableScopeWord);
    if (beyond.length === 0) return;
    isReported = true;
    const line = { frontEnd: name, registration, scope: beyond.slice(0, mostLogged).join(' ') };
    logger.warn(line, 'the provider grants more than the configured scope');
  };
}
