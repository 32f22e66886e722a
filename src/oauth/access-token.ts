/**
 * Whether a string can be an access token: visible ASCII. RFC 6749 also allows the space, which
 * the Authorization header could not carry back.
 *
 * @see RFC 6749 appendix A.12
 */
export function isAccessToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}
