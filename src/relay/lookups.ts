import type { Config } from '../config/config.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import { patternsThatAllow } from '../origins/origin-pattern.ts';
import type { FindRegistration } from '../routes/session-lookup.ts';
import { originOfPage } from '../routes/session-requests.ts';
import { pagesOfFrontEnds } from './readers.ts';
import { type ServedRegistration, wordsOf } from './registrations.ts';

/** Whether a page that belongs neither to a front end nor to the relay sent a request. Programs have no page. */
export function foreignPages(config: Config): (ctx: Context) => boolean {
  const { hasOrigin } = pagesOfFrontEnds(config);
  const { origin: own } = new URL(config.baseUrl);
  return ({ req: { headers } }) => {
    const { origin, 'sec-fetch-site': site } = headers;
    return origin === undefined ? site === 'cross-site' : origin !== own && !hasOrigin(origin);
  };
}

/**
 * Finds the registration of a user lookup: the one that `provider` names, else the one that the page's origin belongs
 * to, else (no page, or an unknown one) the first. If the origin belongs to several, it fails, because a token of one
 * provider must not reach another.
 *
 * @throws {RelayError} `provider_unknown`
 */
export function createRegistrationFinder(
  served: readonly [ServedRegistration, ...ServedRegistration[]],
  base: URL,
): FindRegistration {
  const byName = new Map(served.flatMap((one) => wordsOf(one).map((word) => [word, one.registration])));
  const uses = served.flatMap(({ registration, frontEnds: { origins } }) =>
    [...origins].map((pattern) => ({ pattern, registration })),
  );
  const usesByPattern = Map.groupBy(uses, ({ pattern }) => pattern);
  return (name, headers) => {
    if (name !== undefined) {
      const named = typeof name === 'string' ? byName.get(name) : undefined;
      if (named === undefined) throw new RelayError('provider_unknown');
      return named;
    }
    const origin = originOfPage(headers, base);
    const patterns = origin === undefined ? [] : patternsThatAllow(origin, usesByPattern);
    const ofOrigin = [...patterns].flatMap((pattern) => usesByPattern.get(pattern) ?? []);
    const [found, second] = new Set(ofOrigin.map(({ registration }) => registration));
    if (second !== undefined) throw new RelayError('provider_unknown', { detail: ambiguous });
    return found ?? served[0].registration;
  };
}

const ambiguous = 'The pages of this origin may use several providers: name one by the parameter provider.';
