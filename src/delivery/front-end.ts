import type { Logger } from 'pino';
import type { Allow } from '../access/allow.ts';
import type { Codes } from '../grants/codes.ts';
import type { RefreshPolicy } from '../grants/refresh-tokens.ts';
import { type AnswerFailure, answerJson } from '../http/error-responder.ts';
import type { FrontEndRequest, OAuthRequest, States } from '../login/state.ts';
import { scopeBeyond } from '../oauth/scope.ts';
import { matches, type OriginPattern } from '../origins/origin-pattern.ts';
import { findRedirectUri, originsOf, type RedirectUri } from '../origins/redirect-uri.ts';
import type { Sessions } from '../session/sessions.ts';
import { cmsDelivery } from './cms-delivery.ts';
import { codeDelivery } from './code-delivery.ts';
import { type Delivery, inPlaceDelivery } from './delivery.ts';
import { failurePage } from './failure-page.ts';
import { redirectDelivery } from './redirect-delivery.ts';
import { sessionDelivery } from './session-delivery.ts';

/** What a front end is configured with. */
export interface FrontEndSettings {
  readonly name: string;
  readonly kind: 'page' | 'native';
  /** What `keyOfClient` gives of the client that this is, if that has no entry of its own. */
  readonly client?: string;
  readonly origin: OriginPattern;
  /** The page of a front end that has only one origin. */
  readonly frontendUrl: string | undefined;
  readonly redirectUris: readonly RedirectUri[];
  readonly scope: string | undefined;
  readonly allow: Allow | undefined;
  readonly tokenDelivery: 'query' | 'fragment' | 'code' | 'session' | 'cms';
  readonly errorDelivery: 'json' | 'page' | 'redirect';
  /** Undefined: it gets no refresh tokens. */
  readonly refreshPolicy: RefreshPolicy | undefined;
}

/** What the front ends of one registration share. */
export interface FrontEndContext {
  /** The name of the registration. */
  readonly registration: string;
  /** The relay's name in `iss`, which is also the public address of starts. */
  readonly issuer: string;
  /** The audience of the registration. Throws as `provider` does. */
  readonly audience: () => string;
  readonly states: States;
  readonly codes: Codes;
  /** Undefined if no front end has sessions. */
  readonly sessions: Sessions | undefined;
  /** The name of the provider's backend in the configuration of a CMS. Undefined: no CMS can use it. */
  readonly cmsBackend: string | undefined;
  /** Whether there is only one front end. */
  readonly isOnlyOne: boolean;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Words of a scope in one line of the log. */
const mostLogged = 20;
/** @see RFC 6749 §3.3 */
const isScopeWord = (word: string) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(word);

/** What the codes, refresh tokens and sessions of a front end are bound to: the operator may have lost the old origin. */
export function audienceOfFrontEnd({
  name,
  origin,
  client,
}: Pick<FrontEndSettings, 'name' | 'origin' | 'client'>) {
  return client === undefined ? `${name} ${origin}` : `${name} client ${client}`;
}

/** A page or app that logs its users in at one registration. */
export class FrontEnd {
  readonly #settings: FrontEndSettings;
  readonly #context: FrontEndContext;
  /** Shared by a front end and its clients. */
  readonly #reports: { hasScope: boolean };
  /** Its `client_id` towards the relay. */
  readonly name: string;
  /** What `keyOfClient` gives of the client that this is, if that has no entry of its own. */
  readonly client: string | undefined;
  /** Whether its clients are programs. */
  readonly isNative: boolean;
  readonly audience: string;
  /** Empty: it has no page of its own. */
  readonly origin: OriginPattern;
  /** The origins that its requests come from, if they come from pages. */
  readonly origins: readonly OriginPattern[];
  /** How it gets its tokens. Those of `session` get none. */
  readonly tokenDelivery: FrontEndSettings['tokenDelivery'];
  /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
  readonly scope: string | undefined;
  /** Who may log in here, of those who may log in at the registration. Undefined: all. */
  readonly allow: Allow | undefined;
  /** The pages that an OAuth request may name. */
  readonly redirectUris: readonly RedirectUri[];
  /** Whether it may start logins with OAuth requests. */
  readonly takesOAuth: boolean;
  /** Whether its logins ask the provider for a refresh token, if they are OAuth requests or have a session. */
  readonly asksForRefresh: boolean;
  /** The name of the backend in the configuration of its CMS. Undefined: it is not a CMS. */
  readonly cmsBackend: string | undefined;
  /** Undefined: it gets no refresh tokens. */
  readonly refreshPolicy: RefreshPolicy | undefined;

  constructor(settings: FrontEndSettings, context: FrontEndContext, reports = { hasScope: false }) {
    const { name, origin, redirectUris, scope, tokenDelivery, refreshPolicy } = settings;
    this.#settings = settings;
    this.#context = context;
    this.#reports = reports;
    this.name = name;
    this.client = settings.client;
    this.isNative = settings.kind === 'native';
    this.audience = audienceOfFrontEnd(settings);
    this.origin = origin;
    this.origins = originsOf(settings);
    this.tokenDelivery = tokenDelivery;
    this.scope = scope;
    this.allow = settings.allow;
    this.redirectUris = redirectUris;
    this.takesOAuth = ['query', 'fragment', 'code'].includes(tokenDelivery);
    // A session never gives its refresh token to the page, whatever pages get.
    this.asksForRefresh = refreshPolicy !== undefined || tokenDelivery === 'session';
    this.cmsBackend = tokenDelivery === 'cms' ? context.cmsBackend : undefined;
    this.refreshPolicy = refreshPolicy;
  }

  /** Shows a failure that must not reach the front end itself: a page for people, JSON for programs. */
  get answerInPlace(): AnswerFailure {
    const { origin, frontendUrl } = this.#settings;
    const { registration, states } = this.#context;
    const loginRoute = `/auth/${registration}`;
    const loginUrl = loginUrlOf(this.#settings, this.#context);
    return failurePage({ origin, frontendUrl, loginRoute, loginUrl, states });
  }

  /**
   * The front end for one of its clients that have no entry of their own.
   *
   * @param client what `keyOfClient` gives
   * @param keyRequired whether its refresh tokens are bound to a key, whatever others get
   */
  forClient(client: string, redirectUris: readonly RedirectUri[], keyRequired: boolean): FrontEnd {
    const { refreshPolicy } = this;
    const bound = refreshPolicy && { ...refreshPolicy, mode: 'bound' as const };
    return new FrontEnd(
      {
        ...this.#settings,
        origin: '',
        frontendUrl: undefined,
        redirectUris,
        client,
        refreshPolicy: keyRequired ? bound : refreshPolicy,
      },
      this.#context,
      this.#reports,
    );
  }

  /** Whether requests with this `Origin` are its own. */
  hasOrigin(origin: string): boolean {
    return this.origins.some((pattern) => matches(pattern, origin));
  }

  /** Answers failures at its registration if no front end is known. */
  get answerFailure(): AnswerFailure {
    // A popup has only people in front of it.
    const isPage = this.#settings.errorDelivery === 'page' || this.tokenDelivery === 'cms';
    return isPage ? this.answerInPlace : answerJson;
  }

  /**
   * Reports what the provider has granted beyond the front end's scope, if it is more. It does so once.
   *
   * @param granted undefined: the provider does not say
   * @param whole the registration's scope
   */
  reportScope(granted: string | undefined, whole: string | undefined): void {
    if (this.#reports.hasScope) return;
    const beyond = scopeBeyond(granted, this.scope ?? whole).filter(isScopeWord);
    if (beyond.length === 0) return;
    this.#reports.hasScope = true;
    const { registration, logger } = this.#context;
    const scope = beyond.slice(0, mostLogged).join(' ');
    const line = { frontEnd: this.name, registration, scope };
    logger.warn(line, 'the provider grants more than the configured scope');
  }

  /**
   * How a login reaches the front end.
   *
   * @param request what the login was started with; undefined if that is not known
   */
  deliveryOf(request: FrontEndRequest = {}): Delivery {
    const { oauth, state } = request;
    return oauth === undefined ? this.#plainDelivery(request) : this.#oauthDelivery(oauth, state);
  }

  /** The configuration may have changed since the login was started. */
  #oauthDelivery(oauth: OAuthRequest, state: string | undefined): Delivery {
    if (!this.takesOAuth) return inPlaceDelivery(this.answerInPlace, 'client_unauthorized');
    const isRegistered = findRedirectUri(oauth.redirectUri, this.redirectUris) !== undefined;
    if (!isRegistered) return inPlaceDelivery(this.answerInPlace, 'redirect_uri_unknown');
    const { codes, issuer } = this.#context;
    return codeDelivery({ codes, issuer, frontEnd: this.audience }, oauth, state);
  }

  #plainDelivery({ state, returnTo }: FrontEndRequest): Delivery {
    const { name, origin, tokenDelivery, cmsBackend, answerInPlace } = this;
    const { frontendUrl: url, errorDelivery } = this.#settings;
    if (cmsBackend !== undefined) return cmsDelivery(cmsBackend, origin);
    if (tokenDelivery === 'code' || tokenDelivery === 'cms' || url === undefined) {
      return inPlaceDelivery(answerInPlace, 'pkce_required');
    }
    const answers = { json: answerJson, page: answerInPlace, redirect: undefined };
    const answerFailure = answers[errorDelivery];
    if (tokenDelivery !== 'session') {
      return redirectDelivery({ url, part: tokenDelivery }, answerFailure, state);
    }
    const { sessions, registration, audience } = this.#context;
    if (sessions === undefined) throw new Error('a front end has sessions, but the relay has none');
    const { fail } = redirectDelivery({ url, part: 'query' }, answerFailure, state);
    // The front end may have another origin since the login was started.
    const page = returnTo?.startsWith(`${origin}/`) ? returnTo : url;
    return sessionDelivery(sessions, { registration, audience, frontEnd: name }, page, fail);
  }
}

/** @returns undefined if a person cannot start a login of the front end by a link */
function loginUrlOf(
  { name, tokenDelivery }: FrontEndSettings,
  { issuer, isOnlyOne }: FrontEndContext,
): string | undefined {
  // Without PKCE, or without the window of a CMS, the login would fail.
  if (tokenDelivery === 'code' || tokenDelivery === 'cms') return undefined;
  return isOnlyOne ? issuer : `${issuer}/${name}`;
}
