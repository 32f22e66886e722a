import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { Position } from './config-file.ts';
import type { ReportAt, Yaml } from './yaml.ts';

/** A pair of a map, with a key that no other pair of the map has. */
export interface Pair {
  readonly key: string;
  readonly position: Position;
  /** Undefined: there is nothing after the key. Never an alias. */
  readonly value: Node | undefined;
}

/** What an alias stands for, or the node itself. Undefined: an alias of nothing. */
export function resolved(node: unknown, { document }: Yaml): Node | undefined {
  if (isAlias(node)) return node.resolve(document);
  return isScalar(node) || isMap(node) || isSeq(node) ? node : undefined;
}

/**
 * The pairs of a map: its own, then those of the maps that `<<` merges into it, if it has no such key itself.
 * Reports keys that are repeated, or that are not strings.
 *
 * @see https://yaml.org/type/merge.html
 */
export function pairsOf(map: YAMLMap, yaml: Yaml, report: ReportAt): readonly Pair[] {
  return [...pairsByKey(map, yaml, report, []).values()];
}

/** @param within the maps that the map is merged into, which it cannot merge */
function pairsByKey(
  map: YAMLMap,
  yaml: Yaml,
  report: ReportAt,
  within: readonly YAMLMap[],
): ReadonlyMap<string, Pair> {
  const pairs = new Map<string, Pair>();
  const merged: Pair[] = [];
  const inside = [...within, map];
  for (const { key: keyNode, value } of map.items) {
    const position = positionOf(keyNode ?? map, yaml);
    const key = isScalar(keyNode) ? keyNode.value : undefined;
    const earlier = typeof key === 'string' ? pairs.get(key) : undefined;
    if (typeof key !== 'string') {
      report(position, 'is a key that is not a string: put it in quotes');
    } else if (key === '<<') {
      for (const source of mergedMaps(value, yaml)) {
        if (source === undefined || inside.includes(source)) {
          report(position, 'does not merge another map, such as <<: *name');
        } else {
          merged.push(...pairsByKey(source, yaml, report, inside).values());
        }
      }
    } else if (earlier !== undefined) {
      report(position, `repeats a key of line ${earlier.position.line}`);
    } else {
      pairs.set(key, { key, position, value: resolved(value, yaml) });
    }
  }
  for (const pair of merged) if (!pairs.has(pair.key)) pairs.set(pair.key, pair);
  return pairs;
}

function mergedMaps(value: unknown, yaml: Yaml): readonly (YAMLMap | undefined)[] {
  const node = resolved(value, yaml);
  const sources = isSeq(node) ? node.items.map((item) => resolved(item, yaml)) : [node];
  return sources.map((source) => (isMap(source) ? source : undefined));
}

/** Where a node begins. */
export function positionOf(node: unknown, { positionAt }: Yaml): Position {
  const hasRange = isAlias(node) || isScalar(node) || isMap(node) || isSeq(node);
  return positionAt((hasRange && node.range?.[0]) || 0);
}
