import type { Left } from '../memory/single.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { keyOf } from '../recent.ts';

/** A refresh token of the provider, and the client that it was issued to. */
export interface RefreshTokenOwner {
  readonly registration: string;
  readonly frontEnd: string;
  /** The thumbprint of the front end's key, if the relay's refresh token is bound to one. */
  readonly thumbprint?: string | undefined;
  readonly refreshToken: string;
}

/** A refresh for a front end. */
export interface FrontEndRefresh extends RefreshTokenOwner, RefreshGrant {}

/** The answer to a refresh, with the refresh token that is valid from now on. */
export type Refreshed = TokenResponse & { readonly refreshToken: string };

/** The result of a refresh, and when it ended. */
export interface Ended {
  readonly scope: string | undefined;
  readonly response: Refreshed;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Whether the provider has replaced the refresh token. */
export function isRotation({ response }: Left, refreshToken: string): boolean {
  return response?.refreshToken !== undefined && response.refreshToken !== refreshToken;
}

/** Without the scope: a refresh token is spent whatever the scope was. */
export function keyOfRefresh(token: RefreshTokenOwner): string {
  const { registration, frontEnd, thumbprint, refreshToken } = token;
  return keyOf(registration, frontEnd, thumbprint, refreshToken);
}

/** The response as it is true at a later time. */
export function aged({ response, at }: Ended, now: number): Refreshed {
  const age = Math.max(0, now - at) / 1000;
  const left = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(0, Math.floor(seconds - age));
  const { expiresIn, refreshExpiresIn } = response;
  return { ...response, expiresIn: left(expiresIn), refreshExpiresIn: left(refreshExpiresIn) };
}
