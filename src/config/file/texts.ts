import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { acceptedWords } from '../accepted-words.ts';
import { numbered } from '../option.ts';
import type { FileSetting } from './keys.ts';
import { resolved } from './pairs.ts';
import type { Yaml } from './yaml.ts';

/** How a list is written as one text, for options whose flag takes one text. */
const separators: Readonly<Record<string, string>> = { scope: ' ', trustedProxies: ',' };

/** Whether a setting takes a list as well as a single value. */
export function takesList({ name, repeatable }: FileSetting): boolean {
  return repeatable === true || separators[name] !== undefined;
}

/**
 * The texts that a setting's flag would have: several if the flag is repeatable.
 *
 * @param fault its message never quotes the value
 * @returns undefined after reporting a fault
 */
export function textsOf(
  setting: FileSetting,
  value: Node | undefined,
  yaml: Yaml,
  fault: (message: string) => void,
): readonly string[] | undefined {
  const separator = separators[setting.name];
  const isList = takesList(setting);
  if (!isSeq(value) || !isList) {
    const text = textOf(setting, value, isList ? 'one value or a list' : 'one value', fault);
    return text === undefined ? undefined : [text];
  }
  const { items } = value;
  const texts = items.map((item, index) =>
    textOf(setting, resolved(item, yaml), 'one value', (message) =>
      fault(numbered(index, items.length, message)),
    ),
  );
  if (texts.length === 0) fault('is an empty list');
  if (texts.length === 0 || !texts.every((text) => text !== undefined)) return undefined;
  return separator === undefined ? texts : [texts.join(separator)];
}

function textOf(
  setting: FileSetting,
  value: Node | undefined,
  expected: string,
  fault: (message: string) => void,
): string | undefined {
  if (isMap(value) || isSeq(value)) {
    fault(`must be ${expected}, not a ${isMap(value) ? 'map' : 'list'}`);
    return undefined;
  }
  if (!isScalar(value) || value.value === null || value.value === '') {
    fault('has no value');
    return undefined;
  }
  return scalarText(setting, value);
}

/**
 * The text of a scalar as it is in the file: `010` is not 8, and a long identifier keeps all its digits.
 * `true` is also `on`, which it is in YAML 1.1.
 */
function scalarText({ schema }: FileSetting, { value, source }: Scalar): string {
  const text = typeof value === 'string' ? value : (source ?? String(value));
  if (typeof value !== 'boolean') return text;
  const word = value ? 'on' : 'off';
  return acceptedWords({ schema }).includes(word) ? word : String(value);
}
