import type { Config } from '../config/config.ts';
import { resourcesOfRegistration } from '../config/relations.ts';
import type { Resource } from '../resources/resource.ts';

/**
 * Finds the resources whose logins a reload ends. If it changes the form of people's ids, it ends the logins as well,
 * because the audience of their tokens changes.
 *
 * @returns a warning for each of them
 */
export function findEndedLogins(before: Config, after: Config): readonly string[] {
  const present = Map.groupBy(resourcesOf(after), ({ name }) => name);
  return [...Map.groupBy(resourcesOf(before), ({ name }) => name)].flatMap(([name, earlier]) => {
    const later = present.get(name) ?? [];
    const ended = earlier.filter(({ audience }) => !later.some((one) => haveSameAudience(one.audience, audience)));
    if (ended.length === 0) return [];
    const whose = ended.length === earlier.length ? 'all logins' : `logins at ${listRegistrations(ended)}`;
    return [`resources.${name}: ${describeIds(earlier, later)}${whose} of this resource have ended`];
  });
}

/** A resource for the people of one registration. */
const resourcesOf = (config: Config): readonly Resource[] =>
  config.registrations.flatMap((registration) => resourcesOfRegistration(config, registration));

const haveSameAudience = (one: readonly string[], other: readonly string[]) =>
  JSON.stringify(one) === JSON.stringify(other);

const listRegistrations = (resources: readonly Resource[]) =>
  resources.map(({ registration }) => registration).join(', ');

/** Describes how a reload changes the form of the ids; empty if it does not, or if there is no such resource now. */
function describeIds([before]: readonly Resource[], [after]: readonly Resource[]): string {
  if (before === undefined || after === undefined || before.idsNameProvider === after.idsNameProvider) return '';
  return after.idsNameProvider
    ? 'ids of people now begin with the name of the provider, as in github:583231, and '
    : 'ids of people no longer begin with the name of the provider, and ';
}
