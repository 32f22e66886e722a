import * as v from 'valibot';
import type { Reading } from './reading.ts';
import { fileOnly } from './settings/settings.ts';
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
  { entry, values, faultAt }: Reading,
  registrations: readonly string[],
): FrontEndAccess {
  if (entry === undefined) return { registrations, scope: undefined };
  const { scope } = values;
  const fault = (message: string) =>
    faultAt(entry.positions.providers ?? entry.position, 'providers', message);
  const given = entry.values.providers;
  if (given === undefined || given.length === 0) return { registrations, scope };
  const named = v.safeParse(fileOnly['front-ends'].providers.schema, given.join(' '));
  if (!named.success) {
    fault(named.issues[0].message);
    return { registrations, scope };
  }
  const meant = named.output.map((name) => {
    if (registrations.includes(name)) return name;
    const close = suggestion(name, registrations);
    fault(`names a provider that is not configured${didYouMean(close)}`);
    // Otherwise, that one may be reported as unused, too.
    return close ?? name;
  });
  return { registrations: meant, scope };
}
