import * as v from 'valibot';

const oauthRequest = v.object({
  /** One of the front end's redirect URIs. */
  redirectUri: v.string(),
  /** An S256 challenge of 43 characters. */
  codeChallenge: v.string(),
  /** What `keyOfClient` gives of a client that has no entry of its own. */
  client: v.optional(v.string()),
  /** Where the token is to be used. @see RFC 8707 */
  resource: v.optional(v.string()),
  /** The scope, as long as the person has not consented. */
  scope: v.optional(v.string()),
  /** Whether the person is to choose another account at the provider, as long as they have not consented. */
  otherAccount: v.optional(v.boolean()),
});

/** The form of a {@link FrontEndRequest}. */
export const frontEndRequest = v.object({
  /** The front end's own `state`, if it sent one. */
  state: v.optional(v.string()),
  /** Set if the start was an OAuth request. */
  oauth: v.optional(oauthRequest),
  /** The page that a session begins at, inside the front end's origin. By default its main page. */
  returnTo: v.optional(v.string()),
});

/** What a front end asked for when it started a login. */
export type FrontEndRequest = v.InferOutput<typeof frontEndRequest>;

/** What an OAuth request asked for. @see RFC 6749 §4.1.1, RFC 7636 §4.3 */
export type OAuthRequest = v.InferOutput<typeof oauthRequest>;
