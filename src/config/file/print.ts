import { Document, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { filePath } from '../schemas.ts';
import type { Derived, EffectiveEntry, EffectiveFile, EffectiveSetting } from './effective.ts';
import { valueTypeOf } from './value-type.ts';

const masked = '[secret]';

/**
 * The configuration in effect as a configuration file. A comment after each setting says where its value is from. What
 * no setting gives is in comments, so that the file means the same if it is read. Secrets are masked.
 */
export function printFile({ relay, providers, frontEnds }: EffectiveFile): string {
  const map = settingsMap(relay);
  map.set('providers', entriesMap(providers));
  map.set('front-ends', entriesMap(frontEnds));
  const document = new Document();
  document.contents = map;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function entriesMap(entries: readonly EffectiveEntry[]): YAMLMap {
  const map = new YAMLMap();
  for (const { name, settings, apis, derived = [] } of entries) {
    const entry = settingsMap(settings);
    if (apis.length > 0) entry.set('proxy', apisSequence(apis));
    const comment = derived.flatMap(commentLines).join('\n');
    if (comment !== '') entry.comment = comment;
    map.set(new Scalar(name), entry);
  }
  return map;
}

function apisSequence(apis: EffectiveEntry['apis']): YAMLSeq {
  const sequence = new YAMLSeq();
  sequence.items = apis.map(settingsMap);
  return sequence;
}

function commentLines({ from, values }: Derived): string[] {
  const lines = [...values].map(([key, text]) => `   ${key}: ${text}`);
  return lines.length === 0 ? [] : [` ${from}:`, ...lines];
}

function settingsMap(settings: readonly EffectiveSetting[]): YAMLMap {
  const map = new YAMLMap();
  for (const effective of settings) map.set(effective.setting.key, valueNode(effective));
  return map;
}

function valueNode({ setting, texts, source }: EffectiveSetting): Scalar | YAMLSeq {
  const isSecret = setting.secret === true && setting.schema !== filePath;
  const scalars = texts.map((text) => new Scalar(isSecret ? masked : typed(setting, text)));
  const [first = new Scalar('')] = scalars;
  const node = scalars.length === 1 ? first : sequence(scalars);
  node.comment = ` ${source}`;
  return node;
}

function sequence(items: Scalar[]): YAMLSeq {
  const node = new YAMLSeq();
  node.items = items;
  node.flow = true;
  return node;
}

/** The value as YAML has it. A text that YAML would take for another value stays a text, in quotes. */
function typed({ schema }: EffectiveSetting['setting'], text: string): unknown {
  const { type } = valueTypeOf({ schema });
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text;
  return type !== 'string' && `${Number(text)}` === text ? Number(text) : text;
}
