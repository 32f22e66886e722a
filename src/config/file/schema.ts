import * as v from 'valibot';
import { limits } from '../../limits.ts';
import type { Level } from '../settings/setting.ts';
import { type FileSetting, fileSettings } from '../settings/settings.ts';
import type { FileEntry } from './config-file.ts';
import { describeForFile, fixedDefault } from './describe-setting.ts';
import { endpoints, takesList } from './entries.ts';
import { valueTypeOf } from './value-type.ts';

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of the configuration file, for editors and other programs. It says nothing of what depends on
 * several settings, on other files, or on more than the form of a URL.
 *
 * @see https://json-schema.org/draft-07
 */
export function configFileSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'login-relay configuration',
    type: 'object',
    properties: {
      ...propertiesOf('relay'),
      providers: entriesOf(
        'providers',
        limits.registrations,
        'The providers. The name of an entry is the word in /auth/<word> and /auth/<word>/callback.',
      ),
      'front-ends': entriesOf(
        'front-ends',
        limits.frontEnds,
        'The front ends. The name of an entry is its client_id.',
      ),
    },
    additionalProperties: false,
  };
}

function entriesOf(kind: FileEntry['kind'], most: number, description: string): JsonSchema {
  return {
    description,
    type: 'object',
    minProperties: 1,
    maxProperties: most,
    propertyNames: {
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      ...(kind === 'front-ends' && { not: { enum: endpoints } }),
    },
    additionalProperties:
      kind === 'front-ends' ? entryOf(kind, { proxy: proxySchema() }) : entryOf(kind),
  };
}

/** @param more the properties that are no settings */
function entryOf(level: Level, more: JsonSchema = {}): JsonSchema {
  const required = fileSettings[level].filter(({ otherwise }) => otherwise === 'required');
  return {
    type: 'object',
    properties: { ...propertiesOf(level), ...more },
    required: required.map(({ key }) => key),
    additionalProperties: false,
  };
}

function proxySchema(): JsonSchema {
  return {
    description: "Parts of a provider's API that a page with a session may use.",
    type: 'array',
    minItems: 1,
    maxItems: limits.apisOfFrontEnd,
    items: entryOf('proxy'),
  };
}

function propertiesOf(level: Level): JsonSchema {
  return Object.fromEntries(fileSettings[level].map((setting) => [setting.key, schemaOf(setting)]));
}

function schemaOf(setting: FileSetting): JsonSchema {
  const description = describeForFile(setting);
  const text = fixedDefault(setting);
  const fallback = text === undefined ? {} : { default: defaultOf(setting, text) };
  const value = valueSchema(setting);
  if (!takesList(setting)) return { description, ...value, ...fallback };
  const list = { type: 'array', minItems: 1, items: value };
  return { description, anyOf: [value, list], ...fallback };
}

function valueSchema(setting: FileSetting): JsonSchema {
  const value = valueTypeOf(setting);
  if (value.type !== 'string') return value;
  if (value.words.length > 0) return { enum: value.words };
  // A text without quotes may look like a number to YAML: client-id: 1234.5678.
  const type = v.is(setting.schema, '1234.5678') ? ['string', 'number'] : 'string';
  return { type, ...(value.pattern && { pattern: value.pattern }) };
}

function defaultOf(setting: FileSetting, text: string): unknown {
  const { type } = valueTypeOf(setting);
  if (type === 'boolean') return text === 'true';
  return type === 'string' ? text : Number(text);
}
