import * as v from 'valibot';
import type { EntryReading } from './readings.ts';
import { frontEndAccessOptions } from './sections/front-end-access.ts';
import { didYouMean, suggestion } from './suggestion.ts';

/** What a front end may use. */
export interface FrontEndAccess {
  /** The names of registrations. */
  readonly registrations: readonly string[];
  /** The scope of its logins, which an OAuth request can narrow. Undefined: the registration's. */
  readonly scope: string | undefined;
}

/**
 * Reads what a front end may use: by default, every registration with its own scope.
 *
 * @param registrations the names of all registrations
 */
export function readFrontEndAccess(
  { entry, reading, faultOfProviders }: EntryReading,
  registrations: readonly string[],
): FrontEndAccess {
  if (entry === undefined) return { registrations, scope: undefined };
  const { scope } = reading.values;
  const given = entry.values.providers;
  if (given === undefined || given.length === 0) return { registrations, scope };
  const named = v.safeParse(frontEndAccessOptions.providers.schema, given.join(' '));
  if (!named.success) {
    faultOfProviders(named.issues[0].message);
    return { registrations, scope };
  }
  const meant = named.output.map((name) => {
    if (registrations.includes(name)) return name;
    const close = suggestion(name, registrations);
    faultOfProviders(`names a provider that is not configured${didYouMean(close)}`);
    // Otherwise, that one may be reported as unused, too.
    return close ?? name;
  });
  return { registrations: meant, scope };
}
