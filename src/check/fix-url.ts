import { type OptionSources, sourceOf } from '../config/option-values.ts';
import { describeOption } from '../config/options.ts';

/** The options that give an endpoint by hand. */
export type EndpointOption = 'authorizeUrl' | 'tokenUrl' | 'userUrl';

/** What to change if the address of an endpoint is wrong. It depends on the source of the address. */
export function fixUrl(name: EndpointOption, sources: OptionSources): string {
  const isGiven = (option: Parameters<typeof sourceOf>[0]) =>
    sourceOf(option, sources) !== undefined;
  if (isGiven(name)) return `correct ${describeOption(name)}`;
  const origins = (['issuer', 'providerHost', 'providerTenant'] as const).filter(isGiven);
  const origin = (origins.length > 0 ? origins : (['provider'] as const)).map(describeOption);
  return `correct ${origin.join(' or ')}, or give ${describeOption(name)}`;
}
