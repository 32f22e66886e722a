import type * as api from '../client.d.ts';

export class LoginError extends Error implements api.LoginError {
  declare readonly code: string;
  declare readonly requestId?: string | null;

  constructor(code: string, message: string, requestId?: string | null) {
    super(message);
    Object.assign(this, { name: 'LoginError', code, requestId });
  }
}
