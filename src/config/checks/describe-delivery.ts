import type { FrontEndReading } from '../readings.ts';

/**
 * Names the token delivery of the first front end that has one of these deliveries: `--token-delivery session`.
 *
 * @param registration the only registration whose front ends count
 * @returns undefined if there is no such front end
 */
export function describeDelivery(
  frontEnds: readonly FrontEndReading[],
  deliveries: readonly (string | undefined)[],
  registration?: string,
): string | undefined {
  const found = frontEnds.find(
    ({ values, registrations }) =>
      deliveries.includes(values.tokenDelivery) && (registration === undefined || registrations.includes(registration)),
  );
  return found && `${found.describe('tokenDelivery')} ${found.values.tokenDelivery}`;
}
