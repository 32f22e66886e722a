import { typedValue, valueTypeOf } from '../schemas.ts';
import { type Level, levels, takesList } from '../settings/setting.ts';
import { type FileSetting, fileSettings } from '../settings/settings.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of the configuration file, for editors and other programs. It cannot express dependencies between
 * settings, other files, or the meaning of a URL.
 *
 * @see https://json-schema.org/draft-07
 */
export function configFileSchema(): JsonSchema {
  // Flags and variables can supply the relay's required settings.
  const { required: _, ...schema } = schemaOfMap('relay');
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: levels.relay.help,
    ...schema,
  };
}

/** The schema of the value of a level's key: a map of settings, a list of such maps, or a map of named maps. */
function schemaOfLevel(level: Level): JsonSchema {
  const { shape, maxEntries, help: description, empty, isSwitch, takenNames } = levels[level];
  const map = schemaOfMap(level);
  if (isSwitch) return { description, anyOf: [{ type: 'boolean' }, map] };
  if (shape === undefined) return { description, ...map, ...(empty && { minProperties: 1 }) };
  if (shape === 'list') {
    return { description, type: 'array', minItems: 1, maxItems: maxEntries, items: map };
  }
  return {
    description,
    type: 'object',
    minProperties: 1,
    maxProperties: maxEntries,
    propertyNames: {
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      ...(takenNames && { not: { enum: takenNames } }),
    },
    additionalProperties: map,
  };
}

/** The schema of a map with a level's settings and the maps inside. */
function schemaOfMap(level: Level): JsonSchema {
  const settings = fileSettings[level];
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...settings.map((setting) => [setting.key, schemaOfSetting(setting)]),
      ...(levels[level].innerLevels ?? []).map((inner) => [inner, schemaOfLevel(inner)]),
    ]),
    required: settings.filter(({ otherwise }) => otherwise === 'required').map(({ key }) => key),
    additionalProperties: false,
  };
}

const scalar = { type: ['string', 'number', 'boolean'] };

/** The schema of a setting: one value, one value or a list, or a map of values. */
function schemaOfSetting(setting: FileSetting): JsonSchema {
  const description = describeSettingAndDefault(setting);
  if (setting.map) return { description, type: 'object', minProperties: 1, additionalProperties: scalar };
  const value = valueTypeOf(setting.schema);
  const { schema, otherwise, default: text } = setting;
  const hasFixedDefault = otherwise === undefined && text !== undefined;
  const fallback = hasFixedDefault ? { default: typedValue(schema, text) } : {};
  if (!takesList(setting)) return { description, ...value, ...fallback };
  const list = { type: 'array', minItems: 1, items: value };
  return { description, anyOf: [value, list], ...fallback };
}

/**
 * The meaning of a setting, in one paragraph for people. It says the default in words, unless the schema has the value
 * itself as `default`.
 */
function describeSettingAndDefault({ help, default: text, otherwise = 'none' }: FileSetting): string {
  if (text !== undefined && otherwise === 'none') return toSentence(help);
  const isRequired = otherwise.startsWith('required');
  return `${toSentence(help)} ${isRequired ? toSentence(otherwise) : `Default: ${otherwise}.`}`;
}

const toSentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
