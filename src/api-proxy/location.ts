/**
 * Maps the target of a redirect of the provider's API to the address of the relay that leads there. Without one, the
 * redirect has no target: nothing in a response chooses another host for the page.
 *
 * @param from the URL that was requested
 * @param base the URL below which the relay sends requests; its path ends with a slash
 * @param mounted the public URL of the relay for `base`, with a slash at its end
 */
export function relayedLocation(
  location: string,
  from: URL,
  base: URL,
  mounted: string,
): string | undefined {
  const target = URL.parse(location, from);
  const isBelow = target?.origin === base.origin && target.pathname.startsWith(base.pathname);
  if (!isBelow || target.username !== '' || target.password !== '') return undefined;
  return mounted + target.pathname.slice(base.pathname.length) + target.search + target.hash;
}
