/**
 * Words that the relay and the provider settle between them: front ends get no ID token, and their refresh
 * tokens are the relay's. Clients of OpenID Connect fail if they are told `openid` and get no ID token.
 *
 * @see OpenID Connect Core §3.1.2.1 and §11
 */
const ownWords: ReadonlySet<string> = new Set(['openid', 'offline_access']);

/**
 * What a front end is told of a granted scope.
 *
 * @returns undefined if nothing is left, or nothing is known
 */
export function scopeForFrontEnd(granted: string | undefined): string | undefined {
  const words = granted?.split(' ').filter((word) => !ownWords.has(word)) ?? [];
  return words.length === 0 ? undefined : words.join(' ');
}

/**
 * What the provider is asked for if a front end asks for a part of a scope: without `openid`, an OpenID
 * provider would refuse the user lookup.
 *
 * @param asked words of `whole`
 */
export function scopeForProvider(asked: readonly string[], whole: readonly string[]): string {
  return whole.filter((word) => ownWords.has(word) || asked.includes(word)).join(' ');
}
