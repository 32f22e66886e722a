import type { CmsBackend } from './cms.ts';

/** How the client authenticates to the token endpoint, and where the parameters travel. */
export type TokenRequestForm =
  /** Everything in the query of a POST without a body, as GitHub takes it. */
  | 'query'
  /** `client_secret_post`: everything in a form body. @see RFC 6749 §2.3.1 */
  | 'body'
  /** `client_secret_basic`: the credentials form-encoded in the Authorization header. @see RFC 6749 §2.3.1 */
  | 'basic'
  /** The credentials in the Authorization header as they are, for servers that do not decode them. */
  | 'basic-raw'
  /** Everything in a body of JSON, for servers that read no form. */
  | 'json';

/** Names and values, decoded. A name may come more than once. @see RFC 8707 §2 */
export type ExtraParameters = [name: string, value: string][];

export type TokenKind = 'access_token' | 'refresh_token';

/** How a provider revokes tokens. */
export interface Revocation {
  readonly url: string;
  readonly request: RevocationRequest;
  /** The only kind of token that it takes (default: both). */
  readonly takes?: TokenKind;
}

export type RevocationRequest =
  /** a form, with client authentication as at the token endpoint. @see RFC 7009 §2.1 */
  | 'rfc7009'
  /** a form with the token and the client identifier, but no secret */
  | 'public-client'
  /** a form with only the token */
  | 'token-only'
  /** the token as the bearer credential of a POST without a body */
  | 'bearer'
  /** GitHub's: a DELETE with the credentials in the Authorization header, and the token in JSON */
  | 'github';

export const accessRules = ['users', 'organizations', 'teams', 'emails', 'emailDomains', 'groups'] as const;

export type AccessRule = (typeof accessRules)[number];

/** How a provider answers a rule. Paths are relative to the user URL, so that a token reaches no other host. */
interface AccessSource {
  /** The words of the scope that it needs, with `|` between words of which one is enough. */
  readonly scope?: string;
}

/** A question about one organization or team. Status 404 is a no. */
export interface Membership extends AccessSource {
  readonly kind: 'membership';
  /** It may hold `:organization`, `:team` and `:login`. */
  readonly ask: string;
  /** The field `state` of a membership that counts. Undefined: status 204 is a yes. */
  readonly state?: string;
  /** Where all memberships of a person are. */
  readonly list?: PersonValues;
}

/** Values that the provider says of a person, which are compared with those of the rule. */
export interface PersonValues extends AccessSource {
  readonly kind: 'values';
  /** The record or the list of records that has them. Undefined: the user record. */
  readonly from?: string;
  /** The field of a record that has the list. */
  readonly items?: string;
  /** The field with the address of the next page. Undefined: the Link header has it. @see RFC 8288 */
  readonly next?: string;
  /** The fields of a value. Several have slashes between them. */
  readonly fields: readonly string[];
  /** A field that must be true. */
  readonly verified?: string;
  /** A field that is true for one value of several: the one that stands for the person. */
  readonly primary?: string;
  /** The field of a user's name, if `fields` has a number. A rule of digits alone never means a name. */
  readonly name?: string;
  /** Whether names that differ in case may be those of two people. */
  readonly isNameExact?: true;
  readonly ignoresCase?: true;
  /** A value is a domain. By default, the rule for domains reads addresses. */
  readonly isDomain?: true;
}

export type AccessAnswer = Membership | PersonValues | { readonly kind: 'cannot'; readonly why: string };

/** What a provider can say of who may log in. */
export type AccessAnswers = Readonly<Partial<Record<AccessRule, AccessAnswer>>>;

/** A refusal with status 403 of a question about a person, which no later attempt changes. */
export interface LookupRefusal {
  /** The header that says it, in lower case. Undefined: the field `message` of the body, or `error.code`. */
  readonly header?: string;
  /** A part of the header, or of the message. */
  readonly text: string;
  readonly means: 'sso_required' | 'application_unapproved' | 'address_refused' | 'account_restricted';
}

/**
 * What the relay knows of a provider: data, never behaviour. A field that an entry of `providers` can set has the name of
 * that setting, so that presets and configurations are written in the same words.
 */
export interface Provider {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Where refresh tokens are sent (default: the token URL). */
  readonly refreshUrl?: string | undefined;
  /** Undefined: it has no user endpoint. */
  readonly userUrl?: string | undefined;
  /** Where it says who somebody is (default: at the user endpoint). */
  readonly userFrom?: 'id-token' | undefined;
  /** The method of the user lookup (default: `get`). */
  readonly userRequest?: 'get' | 'post' | undefined;
  /** The JSON that a user lookup by POST sends. */
  readonly userBody?: string | undefined;
  /** The smallest scope that the user lookup needs, if it needs any. It has spaces between its words. */
  readonly scope?: string | undefined;
  /** What separates the words of a scope in requests (default: a space). */
  readonly scopeSeparator?: string | undefined;
  /** What separates the words of a granted scope besides spaces (default: that of requests). */
  readonly answerScopeSeparator?: string | undefined;
  /** The scopes that its metadata lists, if it does. @see RFC 8414 §2 */
  readonly scopesSupported?: readonly string[] | undefined;
  readonly tokenRequest: TokenRequestForm;
  /** Whether logins use PKCE with S256. Servers without PKCE ignore it, except a few. @see RFC 7636 */
  readonly pkce: boolean;
  /** Further parameters of the authorization request, such as `prompt`. */
  readonly authorizeParams?: ExtraParameters | undefined;
  /** Further parameters of the token request, such as `resource`. */
  readonly tokenParams?: ExtraParameters | undefined;
  /** The field of the token answer that holds its fields, if the answer itself has no access token. */
  readonly tokenAnswer?: string | undefined;
  /** Fields of the token answer that front ends get besides tokens. */
  readonly tokenFields?: readonly string[] | undefined;
  /** Parameters of the callback that front ends get besides tokens. */
  readonly callbackFields?: readonly string[] | undefined;
  /** Whether a login with `refreshRequest` gets a refresh token, if that is known. */
  readonly refreshTokens?: 'always' | 'by-setting' | 'never' | undefined;
  /** What a login adds to its authorization request to get a refresh token. */
  readonly refreshRequest?:
    | {
        readonly scope?: string;
        /** Parameters; configured ones of the same name replace them. */
        readonly parameters?: ExtraParameters;
      }
    | undefined;
  /** How it revokes tokens, if it does. */
  readonly revocation?: Revocation | undefined;
  /** The page that logs a person out of the provider itself. `off`: there is none, whatever its metadata says. */
  readonly logoutUrl?: string | undefined;
  /** Whether a login that asks for no scope gets what was granted before. */
  readonly addsEarlierScopes?: true;
  /** Its name in `iss`, if known. @see RFC 9207 */
  readonly issuer?: string | undefined;
  /** Whether every authorization response must have `iss`. */
  readonly issRequired?: boolean | undefined;
  /** Headers of all calls but discovery, with lower-case names. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** A field by which its user lookup refuses a token with status 200. */
  readonly userRejectedWhen?: { readonly field: string; readonly equals: string | boolean } | undefined;
  /** How it refuses to say who may log in, if the person or an administrator can change that. */
  readonly lookupRefusals?: readonly LookupRefusal[] | undefined;
  /** What it says of who may log in (default: the claims of OpenID Connect). */
  readonly access?: AccessAnswers | undefined;
  /** The `prompt` that lets people choose another account. @see OpenID Connect Core 1.0 §3.1.2.1 */
  readonly accountPrompt?: 'select_account' | 'login' | undefined;
  /** Its parameter for the account that a person probably logs in with (default: `login_hint`). */
  readonly hintParameter?: 'login' | undefined;
  /** How the client identifiers of apps begin that have permissions of their own, and ignore scopes. */
  readonly appIdPrefix?: string | undefined;
  /** How CMSes use it, if they can log in through the relay. */
  readonly cms?: CmsBackend | undefined;
}

/** A part of a preset's URLs that the operator fills in. */
export interface Placeholder {
  /** What to fill in, as help says it: `host of your GitLab server`. */
  readonly meaning: string;
  /** The default. Without one the part is required. */
  readonly default?: string;
}

/** A provider that `--provider` can name. */
export interface Preset {
  readonly name: string;
  readonly title: string;
  /** The provider's own documentation of its endpoints. */
  readonly documentation: string;
  readonly host?: Placeholder;
  readonly tenant?: Placeholder;
  /**
   * The provider. Its texts may hold `{host}` (a host with an optional port and path) and `{tenant}` (a tenant or realm),
   * each declared above; `{clientId}`, percent-encoded; and, for headers that name the calling program, the relay's
   * `{version}` and its public address as `{baseUrl}`.
   */
  readonly provider: Provider;
}
