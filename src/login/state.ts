import * as v from 'valibot';
import { RelayError, unlessFailed } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/sealed.ts';

/** The terms of a login, which stay from its state through its code to its refresh tokens. */
export const loginTerms = {
  /** The URL of the relay's resource that the login is for. Undefined for the provider's API. @see RFC 8707 §2 */
  ownResource: v.optional(v.string()),
  /** The `resource` that a client named for the provider's token. @see RFC 8707 §2 */
  providerResource: v.optional(v.string()),
  /** At first the requested scope, later the granted one. */
  scope: v.optional(v.string()),
  /** Set if the person has consented to this scope. */
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
  /** Proved by the certificate of the host that serves the client's document. */
  host: v.optional(v.string()),
  /** Chosen by the client, and verified by nobody. */
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
  /** Only the state of a question contains it. */
  asker: v.optional(asker),
  /** The S256 challenge of a login of a browser at a resource. All else that it asks for follows from the resource. */
  door: v.optional(v.string()),
});

export type FrontEndRequest = v.InferOutput<typeof frontEndRequest>;

/** A valid OAuth request. @see RFC 6749 §4.1.1, RFC 7636 §4.3 */
export type OAuthRequest = v.InferOutput<typeof oauthRequest>;

/** Replaces a request that is in a cookie. If that cookie is lost, it still tells where a failure may go. */
const kind = v.picklist(['plain', 'oauth']);

// A tuple, because field names would make the state longer, and some providers refuse a long one. Version 0.4 cannot
// read a kind, and must not: it would take the login for a plain one, and finish it without PKCE.
const content = v.tuple([v.string(), v.number(), v.string(), v.union([frontEndRequest, kind])]);

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

/** The `state` parameters of one registration, sealed so that the provider cannot read them. */
export type States = ReturnType<typeof createStates>;

/**
 * @param registrationAudience throws a `RelayError` if no provider is known
 * @param place the callback URL of the login, and its path if several paths share that URL
 * @param purpose `consent` for the question before a login. Such a state is in a form, so it contains the whole login
 * @see RFC 6749 §10.12, RFC 9700 §4.7
 */
export function createStates(
  keys: KeyRing,
  registrationAudience: () => string,
  place: string,
  purpose: 'state' | 'consent' = 'state',
) {
  const seal = createSeal(purpose, keys, content);
  // Compressed, because JSON may need six characters for one, and all logins share 8 KB of cookies.
  const keptSeal = createSeal('request of a state', keys, frontEndRequest, { isPacked: true });
  const bindings = () => [registrationAudience(), place] as const;

  function open(state: string, findKept: FindKept = () => undefined): OpenedState | undefined {
    const opened = seal.open(state, ...bindings());
    if (opened === undefined) return undefined;
    const [idText, issuedAt, frontEnd, held] = opened;
    const id = Buffer.from(idText, 'base64url');
    if (typeof held === 'object') return { id, issuedAt, frontEnd, request: held, isPlain: held.oauth === undefined };
    return { id, issuedAt, frontEnd, request: openKept(idText, findKept(id)), isPlain: held === 'plain' };
  }

  /** Opens only the request of the login with this id, not another login's cookie. */
  const openKept = (id: string, kept: string | undefined) =>
    kept === undefined ? undefined : keptSeal.open(kept, ...bindings(), id);

  return {
    /**
     * Seals a login into a state of less than 400 characters. If the request does not fit, `kept` is its sealed text,
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
      const held = request.oauth === undefined ? 'plain' : 'oauth';
      return { state: seal.seal([idText, issuedAt, frontEnd, held], ...bindings()), kept };
    },
    /** @returns undefined if the state is altered, or belongs to another registration or callback */
    open,
    /** Whether a state is of this registration and callback, also if the browser has lost the rest of its login. */
    isOwn: (state: unknown): boolean =>
      typeof state === 'string' && unlessFailed(() => open(state, () => undefined)) !== undefined,
    /**
     * Opens a state in order to answer a failure. It never throws. Undefined also if no provider is known, or if the
     * browser lost the request of an OAuth login, because only that tells where the failure may go.
     */
    peek(state: unknown, findKept?: FindKept): LoginState | undefined {
      const opened = typeof state === 'string' ? unlessFailed(() => open(state, findKept)) : undefined;
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

/** A login whose callback was proved to come from the browser that started it. */
export interface Login extends LoginState {
  readonly codeVerifier: string;
  /** The `nonce` that an ID token of this login must have. @see OpenID Connect Core 1.0 §3.1.2.1 */
  readonly nonce: string;
}
