import type { Naming } from '../config/reading.ts';
import type { RequiredEndpoint } from '../oauth/discovery-error.ts';

/** What to change if the address of an endpoint is wrong. It depends on the source of the address. */
export function fixUrl(name: RequiredEndpoint, { sourceOf, describe }: Naming): string {
  if (sourceOf(name) !== undefined) return `correct ${describe(name)}`;
  const origins = (['issuer', 'providerHost', 'providerTenant'] as const).filter(
    (option) => sourceOf(option) !== undefined,
  );
  const origin = (origins.length > 0 ? origins : (['provider'] as const)).map(describe);
  return `correct ${origin.join(' or ')}, or give ${describe(name)}`;
}
