import * as v from 'valibot';
import { RelayError, undefinedIfFailed } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/seal.ts';

/** The terms of a login, which its state, its code and its refresh tokens contain. */
export const loginTerms = {
  /** The URL of the relay's resource that the login is for. Undefined for the provider's API. @see RFC 8707 §2 */
  ownResource: v.optional(v.string()),
  /** The `resource` that a client named for the provider's token. @see RFC 8707 §2 */
  providerResource: v.optional(v.string()),
  /** At first the requested scope, later the granted scope. */
  scope: v.optional(v.string()),
  /** Set if the question to the person showed this scope, and the person consented. */
  hasConsent: v.optional(v.literal(true)),
};

const oauthRequest = v.object({
  redirectUri: v.string(),
  codeChallenge: v.string(),
  /** The `hashClient` of a client that is not registered in the configuration. */
  client: v.optional(v.string()),
  ...loginTerms,
});

const asker = v.object({
  /** The host that serves the client's document. Its certificate proves it. */
  host: v.optional(v.string()),
  /** A name that the client has chosen. Nobody has verified it. */
  name: v.optional(v.string()),
});

/** An unregistered client that asks for a login. */
export type Asker = v.InferOutput<typeof asker>;

const frontEndRequest = v.object({
  state: v.optional(v.string()),
  oauth: v.optional(oauthRequest),
  /** The page where a session begins, inside the front end's origin. By default, the main page. */
  returnTo: v.optional(v.string()),
  /** The scope to request, unless it is an OAuth request. A state does not contain it. */
  scope: v.optional(v.string()),
  /** Whether the person should choose another account at the provider. A state does not contain it. */
  otherAccount: v.optional(v.boolean()),
  /** The account that the person probably uses. A state does not contain it. */
  loginHint: v.optional(v.string()),
  /** The client that asks. Only the state of a question contains it. */
  asker: v.optional(asker),
  /** The S256 challenge of a browser's login at a resource. Everything else follows from the resource. */
  door: v.optional(v.string()),
});

export type FrontEndRequest = v.InferOutput<typeof frontEndRequest>;

/** A valid OAuth request. @see RFC 6749 §4.1.1, RFC 7636 §4.3 */
export type OAuthRequest = v.InferOutput<typeof oauthRequest>;

/**
 * Stands in a state for a request that is in a cookie. If the cookie is lost, it still tells where a failure may go.
 */
const requestKind = v.picklist(['plain', 'oauth']);

// A tuple, because field names would make the state longer, and some providers refuse a long state. The `requestKind` is
// a text on purpose: a relay of version 0.4 beside this one refuses such a state. If it could read the state, it would
// finish the login as a plain one, without PKCE.
const content = v.tuple([v.string(), v.number(), v.string(), v.union([frontEndRequest, requestKind])]);

/** The longest state at the provider, in characters. X refuses more than 500. */
export const longestState = 399;

export interface LoginState {
  /** Derived from the secret in the browser's cookie, so that only this browser can finish the login. */
  readonly id: Buffer;
  readonly issuedAt: number;
  readonly frontEnd: string;
  readonly request: FrontEndRequest;
}

/** An opened state. Its request is undefined if the browser lost the cookies that held it. */
interface OpenedState extends Omit<LoginState, 'request'> {
  readonly request: FrontEndRequest | undefined;
  readonly isPlain: boolean;
}

/** Finds the sealed request of a login in the cookies of its browser. */
export type FindKept = (id: Buffer) => string | undefined;

export type States = ReturnType<typeof createStates>;

/**
 * Seals logins into `state` parameters, so that nothing is stored, and the provider cannot read them.
 *
 * @param registrationAudience returns the text that binds states to their registration. It throws a `RelayError` if no
 *   provider is known
 * @param place the callback URL of the login, and its path if several paths share that URL
 * @param purpose `consent` for the question before a login. Its form holds the state, which may be long, so it contains
 *   the whole login
 * @see RFC 6749 §10.12, RFC 9700 §4.7
 */
export function createStates(
  keys: KeyRing,
  registrationAudience: () => string,
  place: string,
  purpose: 'state' | 'consent' = 'state',
) {
  const seal = createSeal(purpose, keys, content);
  // Compressed, because JSON writes some characters as six, and all logins share 8 KB of cookies.
  const keptSeal = createSeal('request of a state', keys, frontEndRequest, { isPacked: true });
  const bindings = () => [registrationAudience(), place] as const;

  /** Opens a state, and the request of its login in the state or in the cookies. */
  function open(state: string, findKept: FindKept = () => undefined): OpenedState | undefined {
    const opened = seal.open(state, ...bindings());
    if (opened === undefined) return undefined;
    const [idText, issuedAt, frontEnd, content] = opened;
    const id = Buffer.from(idText, 'base64url');
    const isInState = typeof content === 'object';
    const request = isInState ? content : openKept(idText, findKept(id));
    const isPlain = isInState ? content.oauth === undefined : content === 'plain';
    return { id, issuedAt, frontEnd, request, isPlain };
  }

  /** Opens the sealed request of the login with this id. The request of another login does not open. */
  const openKept = (id: string, kept: string | undefined) =>
    kept === undefined ? undefined : keptSeal.open(kept, ...bindings(), id);

  return {
    /**
     * Seals a login into a state of less than 400 characters. If the request does not fit, it is sealed into `kept`,
     * for a cookie.
     *
     * @throws {RelayError} `front_end_state_unusable` if it does not fit into the cookie either
     */
    seal({ id, issuedAt, frontEnd, request }: LoginState): { readonly state: string; readonly kept?: string } {
      const idText = id.toString('base64url');
      const whole = seal.seal([idText, issuedAt, frontEnd, request], ...bindings());
      if (whole.length <= longestState) return { state: whole };
      const kept = keptSeal.seal(request, ...bindings(), idText);
      if (kept.length > limits.keptRequestLength) throw tooLong();
      if (purpose === 'consent') {
        if (whole.length > limits.sealedLength) throw tooLong();
        return { state: whole };
      }
      const kind = request.oauth === undefined ? 'plain' : 'oauth';
      return { state: seal.seal([idText, issuedAt, frontEnd, kind], ...bindings()), kept };
    },
    /** @returns undefined if the state is altered, or belongs to another registration or callback */
    open,
    /**
     * Whether a state belongs to this registration and callback, even if the browser has lost the cookies of the login.
     */
    isOwn: (state: unknown): boolean =>
      typeof state === 'string' && undefinedIfFailed(() => open(state, () => undefined)) !== undefined,
    /**
     * Opens a state in order to answer a failure. It never throws.
     *
     * @returns undefined if the state does not open, if no provider is known, or if the browser lost the request of an
     *   OAuth login, because only the request tells where the failure may go
     */
    peek(state: unknown, findKept?: FindKept): LoginState | undefined {
      const opened = typeof state === 'string' ? undefinedIfFailed(() => open(state, findKept)) : undefined;
      if (opened === undefined) return undefined;
      const { request = opened.isPlain ? {} : undefined, id, issuedAt, frontEnd } = opened;
      return request && { id, issuedAt, frontEnd, request };
    },
  };
}

function tooLong(): RelayError {
  const detail =
    'The front end sent more than a login can keep: its state, its redirect URI or page, and its resource are too long together.';
  return new RelayError('front_end_state_unusable', { detail });
}

/** A login whose callback comes from the browser that started it, as the state check has verified. */
export interface Login extends LoginState {
  readonly codeVerifier: string;
  /** The `nonce` that an ID token of this login must have. @see OpenID Connect Core 1.0 §3.1.2.1 */
  readonly nonce: string;
}
