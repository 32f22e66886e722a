import type { CmsBackend } from './cms.ts';

/** How the relay authenticates at the token endpoint, and where the parameters are. */
export type TokenRequestForm =
  /** Everything in the query of a POST without a body, for GitHub. */
  | 'query'
  /** `client_secret_post`: everything in a form body. @see RFC 6749 §2.3.1 */
  | 'body'
  /** `client_secret_basic`: the credentials form-encoded in the Authorization header. @see RFC 6749 §2.3.1 */
  | 'basic'
  /** The credentials in the Authorization header without encoding, for servers that do not decode them. */
  | 'basic-raw'
  /** Everything in a JSON body, for servers that read no form. */
  | 'json';

/** Names and values, decoded. A name may come more than once. @see RFC 8707 §2 */
export type ExtraParameters = [name: string, value: string][];

export type TokenKind = 'access_token' | 'refresh_token';

/** How the provider revokes tokens. */
export interface Revocation {
  readonly url: string;
  readonly request: RevocationRequest;
  /** The only kind of token that it accepts (default: both). */
  readonly takes?: TokenKind;
}

export type RevocationRequest =
  /** A form, with client authentication as at the token endpoint. @see RFC 7009 §2.1 */
  | 'rfc7009'
  /** A form with the token and the client identifier, but no secret. */
  | 'public-client'
  /** A form with the token alone. */
  | 'token-only'
  /** The token as the bearer credential of a POST without a body. */
  | 'bearer'
  /** GitHub's: a DELETE with the credentials in the Authorization header, and the token in JSON. */
  | 'github';

/** The rules of `allow` about people. */
export const accessRules = ['users', 'organizations', 'teams', 'emails', 'emailDomains', 'groups'] as const;

export type AccessRule = (typeof accessRules)[number];

/**
 * The common part of a provider's answers. Paths are relative to the user URL, so that the token goes to no other host.
 */
interface AccessSource {
  /** The words of the scope that the question needs, with `|` between alternatives. */
  readonly scope?: string;
}

/** A question about one organization or team. Status 404 means no. */
export interface Membership extends AccessSource {
  readonly kind: 'membership';
  /** The path of the question. It may contain `:organization`, `:team` and `:login`. */
  readonly ask: string;
  /** The `state` of a membership that counts. Undefined if status 204 means yes. */
  readonly state?: string;
  /** All teams of the person, for a resource that learns the person's groups. */
  readonly list?: ValueSource;
}

/** Where in the provider's answers the values are that a rule is compared with. */
export interface ValueSource extends AccessSource {
  readonly kind: 'values';
  /** The path of the record or list of records (default: the user record). */
  readonly from?: string;
  /** The field with the list of records, if the answer is no list. */
  readonly items?: string;
  /** The field with the address of the next page (default: the Link header). @see RFC 8288 */
  readonly next?: string;
  /** The fields that form a value, joined with slashes. */
  readonly fields: readonly string[];
  /** A field that must be true, or else the value does not count. */
  readonly verified?: string;
  /** A field that is true for the only value that stands for the person. */
  readonly primary?: string;
  /**
   * The field of the user name, if `fields` gives a numeric id. A rule of digits alone is compared only with the id,
   * because anybody can choose somebody's id as a user name.
   */
  readonly name?: string;
  /** Whether names that differ in case may belong to two people. */
  readonly isNameExact?: true;
  /** Whether the values that `fields` form are compared without case. */
  readonly ignoresCase?: true;
  /** Whether the value is a domain. By default, the rule for domains reads addresses. */
  readonly isDomain?: true;
}

/** How a provider answers one rule, or why it cannot. */
export type AccessAnswer = Membership | ValueSource | { readonly kind: 'cannot'; readonly why: string };

/** The answers that a provider can give about who may log in. */
export type AccessAnswers = Readonly<Partial<Record<AccessRule, AccessAnswer>>>;

/** A 403 to a question about a person, which stays the same if the question is repeated. */
export interface LookupRefusal {
  /** The header with the reason, in lower case (default: the field `message` of the body, or `error.code`). */
  readonly header?: string;
  /** A part of the reason. */
  readonly text: string;
  readonly means: 'sso_required' | 'application_unapproved' | 'address_refused' | 'account_restricted';
}

/**
 * The knowledge of the relay about a provider, which is data and never behaviour. Fields that an entry of `providers`
 * can set have the names of the settings, so that presets and configurations use the same words.
 */
export interface Provider {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** The URL to which refresh tokens are sent (default: the token URL). */
  readonly refreshUrl?: string | undefined;
  readonly userUrl?: string | undefined;
  /** The place where the provider says who the person is (default: at the user endpoint). */
  readonly userFrom?: 'id-token' | undefined;
  /** The method of the user lookup (default: `get`). */
  readonly userRequest?: 'get' | 'post' | undefined;
  /** The JSON that a user lookup with `post` sends (default: no body). */
  readonly userBody?: string | undefined;
  /** The smallest scope for the user lookup, if it needs one, with spaces between its words. */
  readonly scope?: string | undefined;
  /** Separates the words of a scope in requests (default: a space). */
  readonly scopeSeparator?: string | undefined;
  /** Separates the words of a granted scope, besides spaces (default: as in requests). */
  readonly answerScopeSeparator?: string | undefined;
  /** The scopes in the provider's metadata. @see RFC 8414 §2 */
  readonly scopesSupported?: readonly string[] | undefined;
  readonly tokenRequest: TokenRequestForm;
  /** Whether logins use PKCE with S256. Most servers without PKCE ignore it. @see RFC 7636 */
  readonly pkce: boolean;
  /** Extra parameters of the authorization request, such as `prompt`. */
  readonly authorizeParams?: ExtraParameters | undefined;
  /** Extra parameters of the token request, for codes and for refreshes. */
  readonly tokenParams?: ExtraParameters | undefined;
  /** The field that contains the token answer, if the answer itself has no access token. */
  readonly tokenAnswer?: string | undefined;
  /** Fields of the token answer that front ends get as well. */
  readonly tokenFields?: readonly string[] | undefined;
  /** Parameters of the callback that front ends get as well. */
  readonly callbackFields?: readonly string[] | undefined;
  /** Whether a login with `refreshRequest` gets a refresh token, if that is known. */
  readonly refreshTokens?: 'always' | 'by-setting' | 'never' | undefined;
  /** Additions to the authorization request that ask for a refresh token. */
  readonly refreshRequest?:
    | {
        readonly scope?: string;
        /** Configured parameters of the same name replace them. */
        readonly parameters?: ExtraParameters;
      }
    | undefined;
  readonly revocation?: Revocation | undefined;
  /** The provider's own logout page. `off` if there is none, even if its metadata name one. */
  readonly logoutUrl?: string | undefined;
  /** Whether a login without a scope gets what was granted before. */
  readonly addsEarlierScopes?: true;
  /** The provider's name in `iss`, if it is known. @see RFC 9207 */
  readonly issuer?: string | undefined;
  /** Whether every authorization response must have `iss`. */
  readonly issRequired?: boolean | undefined;
  /** Headers of all calls except discovery, with lower-case names. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** The field by which the user endpoint refuses a token with status 200. */
  readonly userRejectedWhen?: { readonly field: string; readonly equals: string | boolean } | undefined;
  /** Refusals of questions about a person that the person or an administrator can resolve. */
  readonly lookupRefusals?: readonly LookupRefusal[] | undefined;
  /** The answers about who may log in (default: the claims of OpenID Connect). */
  readonly access?: AccessAnswers | undefined;
  /** The `prompt` for choosing another account. @see OpenID Connect Core 1.0 §3.1.2.1 */
  readonly accountPrompt?: 'select_account' | 'login' | undefined;
  /** The parameter for the account that the person probably uses (default: `login_hint`). */
  readonly hintParameter?: 'login' | undefined;
  /** The beginning of client identifiers of apps that have permissions instead of scopes. */
  readonly appIdPrefix?: string | undefined;
  /** How CMSes use the provider, if they can log in through the relay. */
  readonly cms?: CmsBackend | undefined;
}

/** A part of a preset's URLs that the operator fills in. */
export interface Placeholder {
  /** Its meaning in the help: `host of your GitLab server`. */
  readonly meaning: string;
  /** Without a default, the part is required. */
  readonly default?: string;
}

/** A provider that `--provider` can name. */
export interface Preset {
  readonly name: string;
  readonly title: string;
  readonly documentation: string;
  readonly host?: Placeholder;
  readonly tenant?: Placeholder;
  /**
   * The provider. Its texts may contain `{host}` (a host with an optional port and path) and `{tenant}` (a tenant or
   * realm), each declared above; `{clientId}`, percent-encoded; and, for headers that name the calling program, the
   * relay's `{version}` and its public address as `{baseUrl}`.
   */
  readonly provider: Provider;
}
