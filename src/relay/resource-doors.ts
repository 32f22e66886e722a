import type { Door, Doors } from '../resources/door.ts';
import type { Resource } from '../resources/resource.ts';
import type { ServedRegistration } from './registrations.ts';

/** The doors of each resource, in the order in which it lists its registrations. */
export const doorsOfResources = (served: readonly Pick<ServedRegistration, 'doors'>[]): readonly Doors[] =>
  groupByResource<Door>(
    served.flatMap(({ doors }) => doors),
    ({ resource }) => resource,
  );

/** Groups what each registration has for a resource, in the order in which the resource lists its registrations. */
export function groupByResource<One>(
  ofRegistrations: readonly One[],
  resourceOf: (one: One) => Resource,
): readonly (readonly [One, ...One[]])[] {
  const groups = Map.groupBy(ofRegistrations, (one) => resourceOf(one).name);
  const position = (one: One) => resourceOf(one).registrations.indexOf(resourceOf(one).registration);
  return [...groups.values()].flatMap((group) => {
    const [first, ...others] = group.toSorted((one, other) => position(one) - position(other));
    return first === undefined ? [] : [[first, ...others] as const];
  });
}
