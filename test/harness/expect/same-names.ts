import { expect } from 'chai';

/**
 * Expects a document or a declaration to have exactly the names of the code, each once and in any order. A failure lists
 * only the names that differ. chai would print all names of a list, and none of a set.
 *
 * @param where what to change if a name is missing or unknown
 */
export function expectSameNames(documented: readonly string[], expected: Iterable<string>, where: string): void {
  const known = new Set(expected);
  const found = new Set(documented);
  const differences = {
    missing: [...known.difference(found)],
    unknown: [...found.difference(known)],
    repeated: documented.filter((name, index) => documented.indexOf(name) < index),
  };
  expect(differences, where).to.deep.equal({ missing: [], unknown: [], repeated: [] });
}
