import * as v from 'valibot';
import { acceptedWords, trueOrFalse } from '../schemas.ts';
import type { Option } from '../settings/setting.ts';

/** The type that a setting's value has in YAML. */
export type ValueType =
  | { readonly type: 'boolean' }
  | { readonly type: 'integer' | 'number'; readonly minimum: number; readonly maximum: number }
  /** `words`: the only texts that it takes. `pattern`: what its text must match, among other things. */
  | { readonly type: 'string'; readonly words: readonly string[]; readonly pattern?: string };

/** Tells the type from the schema of a setting, which takes its text. */
export function valueTypeOf({ schema }: Pick<Option, 'schema'>): ValueType {
  if (schema === trueOrFalse) return { type: 'boolean' };
  const actions = actionsOf(schema);
  const minimum = requirementOf('min_value', actions);
  const maximum = requirementOf('max_value', actions);
  if (typeof minimum === 'number' && typeof maximum === 'number') {
    const takesFractions = v.is(schema, `${maximum - 0.5}`);
    return { type: takesFractions ? 'number' : 'integer', minimum, maximum };
  }
  const words = acceptedWords({ schema });
  const pattern = requirementOf('regex', actions);
  // What the pattern of URLs says of their characters explains nothing.
  const isPlain = pattern instanceof RegExp && pattern.flags === '' && !isUrl(schema);
  return { type: 'string', words, ...(isPlain && { pattern: pattern.source }) };
}

function isUrl(schema: Option['schema']): boolean {
  return v.is(schema, 'https://example.com') && !v.is(schema, 'example.com');
}

/** The steps of a schema, in order; those of a pipe in a pipe as well. */
function actionsOf(schema: unknown): readonly object[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return 'pipe' in schema && Array.isArray(schema.pipe) ? schema.pipe.flatMap(actionsOf) : [schema];
}

function requirementOf(type: string, actions: readonly object[]): unknown {
  const action = actions.find((one) => 'type' in one && one.type === type);
  return action && 'requirement' in action ? action.requirement : undefined;
}
