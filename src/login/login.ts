import type { FrontEndRequest } from './front-end.ts';

/** A login whose callback comes from the browser that started it. */
export interface Login {
  /** 16 random bytes. */
  readonly id: Buffer;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The name of the front end. */
  readonly frontEnd: string;
  readonly request: FrontEndRequest;
  /** The PKCE verifier towards the provider. @see RFC 7636 §4.1 */
  readonly codeVerifier: string;
}
