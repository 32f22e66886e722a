/** Creates a function that does the work of a key once for all callers that come while it is in flight. */
export function createJointWork<Result>() {
  const inFlight = new Map<string, Promise<Result>>();
  return (key: string, work: () => Promise<Result>): Promise<Result> => {
    const result = inFlight.get(key) ?? work().finally(() => inFlight.delete(key));
    inFlight.set(key, result);
    return result;
  };
}
