import type { Naming } from '../config/reading.ts';

/** The options that give an endpoint by hand. */
export type EndpointOption = 'authorizeUrl' | 'tokenUrl' | 'userUrl';

/** What to change if the address of an endpoint is wrong. It depends on the source of the address. */
export function fixUrl(name: EndpointOption, { sourceOf, describe }: Naming): string {
  if (sourceOf(name) !== undefined) return `correct ${describe(name)}`;
  const origins = (['issuer', 'providerHost', 'providerTenant'] as const).filter(
    (option) => sourceOf(option) !== undefined,
  );
  const origin = (origins.length > 0 ? origins : (['provider'] as const)).map(describe);
  return `correct ${origin.join(' or ')}, or give ${describe(name)}`;
}
