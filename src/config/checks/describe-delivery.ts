import type { FrontEndReading } from '../readings.ts';

/** Names the first front end with one of these deliveries, at one registration or at any. */
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
