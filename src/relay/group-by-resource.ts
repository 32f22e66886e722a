import type { Door, Doors } from '../resources/door.ts';
import type { Resource } from '../resources/resource.ts';
import type { ServedRegistration } from './registrations.ts';

/** Groups the doors of all registrations by their resource, in the order in which it lists its registrations. */
export const doorsOfResources = (served: readonly Pick<ServedRegistration, 'doors'>[]): readonly Doors[] =>
  groupByResource<Door>(
    served.flatMap(({ doors }) => doors),
    ({ resource }) => resource,
  );

/**
 * Groups the items of registrations by the resource that they are for. Each group has the order in which the resource
 * lists its registrations.
 */
export function groupByResource<Item>(
  items: readonly Item[],
  resourceOf: (item: Item) => Resource,
): readonly (readonly [Item, ...Item[]])[] {
  const groups = Map.groupBy(items, (item) => resourceOf(item).name);
  const position = (item: Item) => resourceOf(item).registrations.indexOf(resourceOf(item).registration);
  return [...groups.values()].flatMap((group) => {
    const [first, ...others] = group.toSorted((left, right) => position(left) - position(right));
    return first === undefined ? [] : [[first, ...others] as const];
  });
}
