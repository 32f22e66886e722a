import type { Config } from '../config/config.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { patternsThatAllow } from '../origins/origin-pattern.ts';
import type { FindRegistration } from '../routes/session-lookup.ts';
import { originOfPage } from '../routes/session-requests.ts';
import { pagesOfFrontEnds } from './readers.ts';
import { type ServedRegistration, wordsOfPaths } from './registrations.ts';

/**
 * Creates a check whether a user lookup comes from a page that belongs neither to a front end nor to the relay. Such
 * pages may ask as well, but have a limit of their own, so that they cannot use up the lookups of a person's own
 * pages.
 */
export function createForeignPageCheck(config: Config): (ctx: Context) => boolean {
  const { hasOrigin } = pagesOfFrontEnds(config);
  const { origin: relayOrigin } = new URL(config.baseUrl);
  return ({ req: { headers } }) => {
    const { origin, 'sec-fetch-site': site } = headers;
    // Programs send neither header.
    if (origin === undefined) return site === 'cross-site';
    return origin !== relayOrigin && !hasOrigin(origin);
  };
}

/**
 * Creates a function that finds the registration of a user lookup: the one that `provider` names, or else the
 * registration of the front end whose page sends the request, or else the first. It throws `provider_unknown` if the
 * page belongs to several registrations, because a token of one provider must not reach another.
 */
export function createRegistrationFinder(
  served: readonly [ServedRegistration, ...ServedRegistration[]],
  base: URL,
): FindRegistration {
  const byName = new Map(served.flatMap((at) => wordsOfPaths(at).map((word) => [word, at.registration])));
  const pages = served.flatMap(({ registration, frontEnds: { origins } }) =>
    [...origins].map((pattern) => ({ pattern, registration })),
  );
  const pagesByPattern = Map.groupBy(pages, ({ pattern }) => pattern);
  return (name, headers) => {
    if (name !== undefined) {
      const named = typeof name === 'string' ? byName.get(name) : undefined;
      if (named === undefined) throw new RelayError('provider_unknown');
      return named;
    }
    const origin = originOfPage(headers, base);
    const patterns = origin === undefined ? [] : patternsThatAllow(origin, pagesByPattern);
    const pagesOfOrigin = [...patterns].flatMap((pattern) => pagesByPattern.get(pattern) ?? []);
    const [found, second] = new Set(pagesOfOrigin.map(({ registration }) => registration));
    if (second !== undefined) throw new RelayError('provider_unknown', { detail: severalProviders });
    return found ?? served[0].registration;
  };
}

const severalProviders = 'The pages of this origin may use several providers: name one by the parameter provider.';
