import type { Logger } from 'pino';
import type { Allow } from '../access/allow.ts';
import { cmsDelivery } from '../delivery/cms-delivery.ts';
import {
  accessTokenDelivery,
  codeDelivery,
  type Delivery,
  failureRedirect,
  sessionDelivery,
} from '../delivery/delivery.ts';
import { failurePage } from '../delivery/failure-page.ts';
import type { Pages } from '../delivery/pages.ts';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import type { Codes } from '../grants/codes.ts';
import type { RefreshPolicy } from '../grants/refresh-tokens.ts';
import { answerJson } from '../http/error-responder.ts';
import type { PeekLogin } from '../login/protection.ts';
import type { FrontEndRequest, OAuthRequest } from '../login/state.ts';
import type { ExtraFields } from '../oauth/extra-fields.ts';
import { scopeBeyond } from '../oauth/scope.ts';
import { anyAnswer, contractAnswer } from '../oauth/token-answer.ts';
import { matchesAny, type OriginPattern } from '../origins/origin-pattern.ts';
import { findRedirectUri, originsOf, type RedirectUri } from '../origins/redirect-uri.ts';
import type { Resource } from '../resources/resource.ts';
import type { Sessions } from '../session/sessions.ts';
import type { MachineCredentials } from './machine.ts';

export interface FrontEndSettings {
  /** Its `client_id` towards the relay. */
  readonly name: string;
  /** Whether its clients are pages, programs of people, or one program without a person. */
  readonly kind: 'page' | 'native' | 'machine';
  /** What a machine proves who it is by. Undefined: it is none. */
  readonly credentials?: MachineCredentials | undefined;
  /** What `hashClient` gives of the client that this is, if that has no entry of its own. */
  readonly client?: string;
  /** Whether people are asked before it logs in, because nobody registered it. */
  readonly asksPeople?: boolean;
  /** Undefined: it has no page of its own, or is a CMS at several addresses. */
  readonly origin: OriginPattern | undefined;
  /** All origins of its pages. Those of a native front end are of its apps and extensions. */
  readonly origins: readonly OriginPattern[];
  /** The page of a front end that has only one origin. Others take OAuth logins only. */
  readonly frontendUrl: string | undefined;
  /** The pages that an OAuth request may name. The first one is the default. */
  readonly redirectUris: readonly RedirectUri[];
  /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
  readonly scope: string | undefined;
  /** Who may log in here, of those who may log in at the registration. Undefined: all. */
  readonly allow: Allow | undefined;
  /** What its logins at the registration are for. Empty: the provider's API. */
  readonly resources: readonly Resource[];
  /** How it gets its tokens. Those of `session` get none. */
  readonly tokenDelivery: 'query' | 'fragment' | 'code' | 'session' | 'cms';
  readonly errorDelivery: 'json' | 'page' | 'redirect';
  /** Undefined: it gets no refresh tokens. */
  readonly refreshPolicy: RefreshPolicy | undefined;
}

/** What the front ends of one registration share. */
export interface FrontEndContext {
  readonly registration: string;
  /** The relay's name in `iss`, which is also the public address of starts. */
  readonly issuer: string;
  /** Gives the audience of the registration, or throws a `RelayError` if no provider is known. */
  readonly audience: () => string;
  readonly peekLogin: PeekLogin;
  readonly codes: Codes;
  /** Undefined if no front end has sessions. */
  readonly sessions: Sessions | undefined;
  /** The name of the provider's backend in the configuration of a CMS. Undefined: no CMS can use it. */
  readonly cmsBackend: string | undefined;
  readonly isOnlyOne: boolean;
  /** True if flags alone describe the registration, so that the contract holds. */
  readonly isByFlags: boolean;
  readonly pages: Pages;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Words of a scope that one line of the log may have. */
const mostLogged = 20;
/** @see RFC 6749 §3.3 */
const isScopeWord = (word: string) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(word);

/** What the codes, refresh tokens and sessions of a front end are bound to: also its origins, which others may get. */
export function audienceOfFrontEnd({ name, kind, origins, client }: Audience) {
  const pages = kind === 'page' ? origins.join(' ') : '';
  return client === undefined ? `${name} ${pages}` : `${name} client ${client}`;
}

type Audience = Pick<FrontEndSettings, 'name' | 'kind' | 'origins' | 'client'>;

/** A page or app that logs its users in at one registration. */
export interface FrontEnd extends ReturnType<typeof assembleFrontEnd> {
  /**
   * The front end for one of its clients that have no entry of their own.
   *
   * @param client what `hashClient` gives
   * @param keyRequired whether its refresh tokens are bound to a key, whatever others get
   */
  forClient(client: string, redirectUris: readonly RedirectUri[], keyRequired: boolean): FrontEnd;
}

/** Creates a front end. Those for its clients share its settings, and report its scope with it. */
export function createFrontEnd(settings: FrontEndSettings, context: FrontEndContext): FrontEnd {
  const reports = {
    /** Warns once of what the provider grants beyond the scope. */
    reportScope: scopeReport(settings, context),
    /** Warns once of each listed field that a provider does not give. */
    reportMissingFields: missingFieldsReport(settings, context),
  };
  const create = (own: FrontEndSettings): FrontEnd => ({
    ...assembleFrontEnd(own, context, reports),
    forClient(client, redirectUris, keyRequired) {
      const { refreshPolicy: policy } = own;
      const refreshPolicy = policy && keyRequired ? { ...policy, mode: 'bound' as const } : policy;
      // A client has its own redirect URIs, not the page of its front end.
      const origins = own.kind === 'native' ? own.origins : [];
      const noPage = { origin: undefined, origins, frontendUrl: undefined };
      const asksPeople = !keyRequired;
      return create({ ...own, ...noPage, redirectUris, client, asksPeople, refreshPolicy });
    },
  });
  return create(settings);
}

function assembleFrontEnd(settings: FrontEndSettings, context: FrontEndContext, reports: Reports) {
  const { name, origin, frontendUrl: url, redirectUris, tokenDelivery, errorDelivery } = settings;
  const { registration, issuer, peekLogin, pages } = context;
  const isCms = tokenDelivery === 'cms';
  const needsPkce = tokenDelivery === 'code';
  const takesOAuth = settings.kind !== 'machine' && ['query', 'fragment', 'code'].includes(tokenDelivery);
  const cmsBackend = isCms ? context.cmsBackend : undefined;
  const audience = audienceOfFrontEnd(settings);
  const origins = originsOf(settings);
  const start = context.isOnlyOne ? issuer : `${issuer}/${name}`;
  const answerInPlace = failurePage({
    origin,
    frontendUrl: url,
    // A link starts a login without PKCE, and outside the popup of a CMS.
    loginUrl: isCms || needsPkce ? undefined : start,
    peekLogin,
    pages,
  });

  /** The delivery of a login that must not reach the front end: it fails in place, before a code is exchanged. */
  function inPlace(why: FailureCode): Delivery {
    const succeed = () => {
      throw new RelayError(why);
    };
    return { takes: 'code', succeed, fail: answerInPlace };
  }

  function oauthDelivery(oauth: OAuthRequest, state: string | undefined): Delivery {
    // The configuration may have changed since the login was started.
    if (!takesOAuth) return inPlace('client_unauthorized');
    const isRegistered = findRedirectUri(oauth.redirectUri, redirectUris) !== undefined;
    if (!isRegistered) return inPlace('redirect_uri_unknown');
    return codeDelivery(context, audience, oauth, state);
  }

  function plainDelivery({ state, returnTo }: FrontEndRequest): Delivery {
    if (cmsBackend) return cmsDelivery(cmsBackend, settings.origins, pages);
    if (isCms || needsPkce || url === undefined) return inPlace('pkce_required');
    const part = tokenDelivery === 'fragment' ? 'fragment' : 'query';
    const target = { url, part, parameters: { state } } as const;
    const redirect = failureRedirect(target, ({ code, oauthError }) => (code === 'access_refused' ? oauthError : code));
    const fail = { json: answerJson, page: answerInPlace, redirect }[errorDelivery];
    if (tokenDelivery !== 'session') return accessTokenDelivery(target, fail);
    const { sessions } = context;
    if (sessions === undefined) throw new Error('a front end has sessions, but the relay has none');
    const login = { registration, frontEnd: name };
    // The front end may have another origin since the login was started.
    const page = returnTo?.startsWith(`${origin}/`) ? returnTo : url;
    return sessionDelivery(sessions, login, page, fail);
  }

  return {
    ...settings,
    audience,
    origins,
    /** Whether requests with this `Origin` are its own. Those of programs have none. */
    hasOrigin: matchesAny(origins),
    /** Whether it may start logins with OAuth requests. */
    takesOAuth,
    /**
     * Whether its logins ask the provider for a refresh token, if they are OAuth requests or have a session. A session
     * never gives its refresh token to the page, whatever pages get.
     */
    asksForRefresh: settings.refreshPolicy !== undefined || tokenDelivery === 'session',
    /** The name of the backend in the configuration of its CMS, if it is a CMS. */
    cmsBackend,
    /** Which answers of the token endpoint may hold a token if a login ends at the callback. */
    answerRule:
      context.isByFlags && (tokenDelivery === 'query' || tokenDelivery === 'fragment') ? contractAnswer : anyAnswer,
    /** Answers a failure that must not reach the front end itself: with a page for people, with JSON for programs. */
    answerInPlace,
    /** Answers failures at its registration if no front end is known. Only people see the popup of a CMS. */
    answerFailure: errorDelivery === 'page' || isCms ? answerInPlace : answerJson,
    ...reports,
    /**
     * How a login reaches the front end.
     *
     * @param request what the login was started with; undefined if that is not known
     */
    deliveryOf(request: FrontEndRequest = {}): Delivery {
      const { oauth, state } = request;
      return oauth === undefined ? plainDelivery(request) : oauthDelivery(oauth, state);
    },
  };
}

interface Reports {
  readonly reportScope: ReturnType<typeof scopeReport>;
  readonly reportMissingFields: ReturnType<typeof missingFieldsReport>;
}

/**
 * Warns once of each field that the operator has listed, if a login has none that can be handed over. The value is not
 * named: it may be a secret.
 *
 * @returns takes the listed names, and the fields that were found
 */
function missingFieldsReport({ name }: FrontEndSettings, { registration, logger }: FrontEndContext) {
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

/**
 * Warns once of what the provider grants beyond the front end's scope.
 *
 * @returns takes the granted scope, if the provider says it, and the registration's
 */
function scopeReport({ name, scope }: FrontEndSettings, { registration, logger }: FrontEndContext) {
  let isReported = false;
  return (granted: string | undefined, whole: string | undefined): void => {
    if (isReported) return;
    const beyond = scopeBeyond(granted, scope ?? whole).filter(isScopeWord);
    if (beyond.length === 0) return;
    isReported = true;
    const line = { frontEnd: name, registration, scope: beyond.slice(0, mostLogged).join(' ') };
    logger.warn(line, 'the provider grants more than the configured scope');
  };
}
