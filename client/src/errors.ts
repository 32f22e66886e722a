import type * as api from '../client.d.ts';

export class LoginError extends Error implements api.LoginError {
  declare readonly code: api.LoginErrorCode;
  declare readonly requestId?: string | null;

  constructor(code: api.LoginErrorCode, message: string, requestId?: string | null) {
    super(message);
    Object.assign(this, { name: 'LoginError', code, requestId });
  }
}

/** Handles failures with such a code, and throws every other error. */
export const on =
  <T = undefined>(codes: RegExp, handle: () => T = () => undefined as T) =>
  (error: LoginError): T => {
    if (!codes.test(error.code)) throw error;
    return handle();
  };

/** Requires https, without which browsers give pages neither keys nor locks. @throws {LoginError} `insecure_context` */
export function expectSecure(): void {
  if (!isSecureContext) throw new LoginError('insecure_context', 'Open this page with https.');
}

/**
 * Throws `storage_blocked` if the browser lets the page store nothing, because its settings forbid it, or the page is in
 * a sandboxed frame. Throws every other error as it is.
 */
export function failAsBlocked(error: Error): never {
  if (error.name !== 'SecurityError') throw error;
  throw new LoginError('storage_blocked', 'Allow cookies for this site.');
}
