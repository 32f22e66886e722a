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

/** The pairs of a map. Reports keys that are repeated, or that are not strings. */
export function pairsOf(map: YAMLMap, yaml: Yaml, report: ReportAt): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { key: keyNode, value } of map.items) {
    const position = positionOf(keyNode ?? map, yaml);
    const key = isScalar(keyNode) ? keyNode.value : undefined;
    const earlier = typeof key === 'string' ? pairs.get(key) : undefined;
    if (typeof key !== 'string') {
      report(position, 'is a key that is not a string: put it in quotes');
    } else if (earlier !== undefined) {
      report(position, `repeats a key of line ${earlier.position.line}`);
    } else {
      pairs.set(key, { key, position, value: resolved(value, yaml) });
    }
  }
  return [...pairs.values()];
}

/** Where a node begins. */
export function positionOf(node: unknown, { positionAt }: Yaml): Position {
  const hasRange = isAlias(node) || isScalar(node) || isMap(node) || isSeq(node);
  return positionAt((hasRange && node.range?.[0]) || 0);
}
