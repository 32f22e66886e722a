/** A list with at least one element. */
export type NonEmpty<Element> = readonly [Element, ...Element[]];

/** The same list with each element changed. */
export function mapped<Element, Result>(
  [first, ...others]: NonEmpty<Element>,
  change: (element: Element, index: number) => Result,
): NonEmpty<Result> {
  return [change(first, 0), ...others.map((element, index) => change(element, index + 1))];
}
