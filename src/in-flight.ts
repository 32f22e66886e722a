/**
 * Creates a list of objects that are in flight for a moment, such as requests, in the order in which they began.
 *
 * It is no `Set`. V8 replaces the table of a `Set` again and again while entries come and go, and each old table keeps
 * its entries and the next table alive until a full garbage collection. So almost every request would outlive the quick
 * collections of young objects, and collections would take several times as long.
 */
export function createInFlight<Item>() {
  const items: Item[] = [];
  return {
    count: (): number => items.length,
    /** All objects. The list does not change when objects come and go. */
    all: (): readonly Item[] => [...items],
    add: (item: Item): void => void items.push(item),
    /** @returns whether the object was in flight */
    remove(item: Item): boolean {
      // Search from the end, because streams that last for hours are at the beginning.
      const index = items.lastIndexOf(item);
      if (index !== -1) items.splice(index, 1);
      return index !== -1;
    },
  };
}
