import { presets } from '../providers/presets.ts';
import type { Option } from './option.ts';
import { providerOptions } from './sections/provider.ts';

/** The words that an option accepts; none if it accepts other texts too. */
export function acceptedWords({ schema }: Pick<Option, 'schema'>): readonly string[] {
  if (schema === providerOptions.provider.schema) return presets.map(({ name }) => name);
  if (!('options' in schema) || !Array.isArray(schema.options)) return [];
  return schema.options.filter((word) => typeof word === 'string');
}
