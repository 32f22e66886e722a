import { limits } from '../../limits.ts';
import { typedValue, valueTypeOf } from '../schemas.ts';
import type { Level } from '../settings/setting.ts';
import { type FileSetting, fileSettings } from '../settings/settings.ts';
import type { FileEntry } from './config-file.ts';
import { endpoints, takesList } from './entries.ts';

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

function entriesOf(kind: FileEntry['level'], most: number, description: string): JsonSchema {
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
      kind === 'front-ends'
        ? entryOf(kind, {
            proxy: proxySchema(),
            allow: allowSchema(),
            clients: clientsSchema(),
          })
        : entryOf(kind, { allow: allowSchema() }),
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

function allowSchema(): JsonSchema {
  return {
    description: 'Who may log in: one match is enough. Default: everybody.',
    ...entryOf('allow'),
    minProperties: 1,
  };
}

function clientsSchema(): JsonSchema {
  const description = 'The programs that may log in here without an entry of their own.';
  return { description, ...entryOf('clients') };
}

function propertiesOf(level: Level): JsonSchema {
  return Object.fromEntries(fileSettings[level].map((setting) => [setting.key, schemaOf(setting)]));
}

function schemaOf(setting: FileSetting): JsonSchema {
  const description = describe(setting);
  const value = valueTypeOf(setting.schema);
  const { schema, otherwise, default: text = '' } = setting;
  const fallback = otherwise === undefined ? { default: typedValue(schema, text) } : {};
  if (!takesList(setting)) return { description, ...value, ...fallback };
  const list = { type: 'array', minItems: 1, items: value };
  return { description, anyOf: [value, list], ...fallback };
}

/** What a setting means, and what happens without it: one paragraph for people. */
function describe({ help, otherwise }: FileSetting): string {
  if (otherwise === undefined) return sentence(help);
  const isRequired = otherwise.startsWith('required');
  return `${sentence(help)} ${isRequired ? sentence(otherwise) : `Default: ${otherwise}.`}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
