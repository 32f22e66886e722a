import * as v from 'valibot';
import { unlessFailed } from '../failures/relay-error.ts';
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
  /** What `keyOfClient` gives of a client that has no entry of its own. */
  client: v.optional(v.string()),
  ...loginTerms,
});

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
});

/** What a front end asked for when it started a login. */
export type FrontEndRequest = v.InferOutput<typeof frontEndRequest>;

/** What an OAuth request asked for. @see RFC 6749 §4.1.1, RFC 7636 §4.3 */
export type OAuthRequest = v.InferOutput<typeof oauthRequest>;

// Without names, because some providers refuse a long state.
const content = v.tuple([v.string(), v.number(), v.string(), frontEndRequest]);

/** What the `state` parameter holds of one login. */
export interface LoginState {
  /** Derived from the secret in the cookie of the browser: only the browser with this secret can finish the login. */
  readonly id: Buffer;
  readonly issuedAt: number;
  /** The name of the front end that started the login. */
  readonly frontEnd: string;
  readonly request: FrontEndRequest;
}

/** The `state` parameters of one registration: sealed, so that the provider cannot read them. */
export type States = ReturnType<typeof createStates>;

/**
 * @param registrationAudience throws a `RelayError` if no provider is known
 * @param callbackUri the redirect URI of the relay at the provider
 * @param purpose `consent`: for the question that a person answers before the login goes to the provider
 * @see RFC 6749 §10.12, RFC 9700 §4.7
 */
export function createStates(
  keys: KeyRing,
  registrationAudience: () => string,
  callbackUri: string,
  purpose: 'state' | 'consent' = 'state',
) {
  const seal = createSeal(purpose, keys, content);

  function open(state: string): LoginState | undefined {
    const opened = seal.open(state, registrationAudience(), callbackUri);
    if (opened === undefined) return undefined;
    const [id, issuedAt, frontEnd, request] = opened;
    return { id: Buffer.from(id, 'base64url'), issuedAt, frontEnd, request };
  }

  return {
    seal({ id, issuedAt, frontEnd, request }: LoginState): string {
      const login = [id.toString('base64url'), issuedAt, frontEnd, request] as const;
      return seal.seal([...login], registrationAudience(), callbackUri);
    },
    /** @returns undefined if the state is altered, or not of this registration and callback */
    open,
    /** As `open`, to answer a failure: undefined also while discovery has not found the provider. */
    peek: (state: unknown): LoginState | undefined =>
      typeof state === 'string' ? unlessFailed(() => open(state)) : undefined,
  };
}

/** A login whose callback comes from the browser that started it. */
export interface Login extends LoginState {
  /** The PKCE verifier towards the provider. @see RFC 7636 §4.1 */
  readonly codeVerifier: string;
}
