/** How the client authenticates to the token endpoint, and where the parameters travel. */
export type TokenRequest =
  /** everything in the query of a POST without a body, as GitHub takes it */
  | 'query'
  /** `client_secret_post`: everything in a form body. @see RFC 6749 §2.3.1 */
  | 'body'
  /** `client_secret_basic`: the credentials in the Authorization header. @see RFC 6749 §2.3.1 */
  | 'basic';

/** What the relay knows of a provider: data, never behaviour. */
export interface Provider {
  /** The name that `--provider` takes. */
  readonly name: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly userUrl: string;
  readonly tokenRequest: TokenRequest;
  /** Whether it takes the parameters of PKCE with S256. @see RFC 7636 */
  readonly pkce: boolean;
  /** How it names itself in `iss`, where it does. @see RFC 9207 */
  readonly issuer?: string;
}
