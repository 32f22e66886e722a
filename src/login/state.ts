import * as v from 'valibot';
import { RelayError, unlessFailed } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/sealed.ts';

/** What a login is for: from its state through its code to its refresh tokens. */
export const loginTerms = {
  /** The URL of the relay's resource that the login is for. Undefined: the provider's API. @see RFC 8707 §2 */
  ownResource: v.optional(v.string()),
  /** The `resource` that a client named for the provider's token. @see RFC 8707 §2 */
  providerResource: v.optional(v.string()),
  /** What the provider is asked for, and later what it has granted. */
  scope: v.optional(v.string()),
  /** Whether the person was asked, and has seen this scope. */
  hasConsent: v.optional(v.literal(true)),
};

const oauthRequest = v.object({
  /** One of the front end's redirect URIs. */
  redirectUri: v.string(),
  /** An S256 challenge of 43 characters. */
  codeChallenge: v.string(),
  /** What `hashClient` gives of a client that has no entry of its own. */
  client: v.optional(v.string()),
  ...loginTerms,
});

const asker = v.object({
  /** Proved, by the certificate of the client's document. */
  host: v.optional(v.string()),
  /** Chosen by the client, and checked by no one. */
  name: v.optional(v.string()),
});

/** Who asks a person for a login: a client that nobody registered. */
export type Asker = v.InferOutput<typeof asker>;

const frontEndRequest = v.object({
  /** The front end's own `state`, if it sent one. */
  state: v.optional(v.string()),
  /** Set if the start was an OAuth request. */
  oauth: v.optional(oauthRequest),
  /** The page that a session begins at, inside the front end's origin. By default its main page. */
  returnTo: v.optional(v.string()),
  /** What to ask the provider for, if it is no OAuth request. No state holds it. */
  scope: v.optional(v.string()),
  /** Whether the person is to choose another account at the provider. No state holds it. */
  otherAccount: v.optional(v.boolean()),
  /** The account that the person probably logs in with. No state holds it. */
  loginHint: v.optional(v.string()),
  /** Who asks. Only the state of a question holds it. */
  asker: v.optional(asker),
});

/** What a front end asked for when it started a login. */
export type FrontEndRequest = v.InferOutput<typeof frontEndRequest>;

/** What an OAuth request asked for. @see RFC 6749 §4.1.1, RFC 7636 §4.3 */
export type OAuthRequest = v.InferOutput<typeof oauthRequest>;

/** In place of a request that a cookie holds: the kind of login. It says where a failure may go if the cookie is lost. */
const kind = v.picklist(['plain', 'oauth']);

// Without names, because some providers refuse a long state. A relay of version 0.4 refuses a kind: if it took the state
// for that of a plain login, an OAuth login would end without PKCE.
const content = v.tuple([v.string(), v.number(), v.string(), v.union([frontEndRequest, kind])]);

/** Characters of a state at the provider. X refuses more than 500. */
export const longestState = 399;

/** What the `state` parameter holds of one login. */
export interface LoginState {
  /** Derived from the secret in the cookie of the browser: only the browser with this secret can finish the login. */
  readonly id: Buffer;
  readonly issuedAt: number;
  /** The name of the front end that started the login. */
  readonly frontEnd: string;
  readonly request: FrontEndRequest;
}

/** What a state opens to. Its request is undefined if the browser has lost the cookies that held it. */
interface OpenedState extends Omit<LoginState, 'request'> {
  readonly request: FrontEndRequest | undefined;
  readonly isPlain: boolean;
}

/** Finds the sealed request of a login in the cookies of its browser. */
export type FindKept = (id: Buffer) => string | undefined;

/** The `state` parameters of one registration: sealed, so that the provider cannot read them. */
export type States = ReturnType<typeof createStates>;

/**
 * @param registrationAudience throws a `RelayError` if no provider is known
 * @param place of the login: its callback URL at the provider, and what tells logins apart that share it
 * @param purpose `consent`: for the question that a person answers before the login goes to the provider. A form holds
 *   such a state, so that all of the login fits into it
 * @see RFC 6749 §10.12, RFC 9700 §4.7
 */
export function createStates(
  keys: KeyRing,
  registrationAudience: () => string,
  place: string,
  purpose: 'state' | 'consent' = 'state',
) {
  const seal = createSeal(purpose, keys, content);
  // Compressed: in JSON, a character may take six, and the cookies of all logins share 8 KB.
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

  /** Opens the request of the login with this id alone: another login's cookie opens to nothing. */
  const openKept = (id: string, kept: string | undefined) =>
    kept === undefined ? undefined : keptSeal.open(kept, ...bindings(), id);

  return {
    /**
     * Seals a login into a state, which is shorter than 400 characters at the provider. `kept` is for a cookie: the
     * sealed request, if it does not fit into the state.
     *
     * @throws {RelayError} `front_end_state_unusable` if a cookie cannot hold it either
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
    /** @returns undefined if the state is altered, or not of this registration and callback */
    open,
    /**
     * As `open`, to answer a failure: undefined also while discovery has not found the provider, and if the browser has
     * lost the request of an OAuth login, because only that says where the failure may go.
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

/** A login whose callback comes from the browser that started it. */
export interface Login extends LoginState {
  /** The PKCE verifier towards the provider. @see RFC 7636 §4.1 */
  readonly codeVerifier: string;
  /** What an ID token for this login has in `nonce`. @see OpenID Connect Core 1.0 §3.1.2.1 */
  readonly nonce: string;
}
