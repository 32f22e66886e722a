import type { LoginState } from './state.ts';

/** A login whose callback comes from the browser that started it. */
export interface Login extends LoginState {
  /** The PKCE verifier towards the provider. @see RFC 7636 §4.1 */
  readonly codeVerifier: string;
}
