import { isMap, isSeq } from 'yaml';
import { limits } from '../../limits.ts';
import type { FileApi } from './config-file.ts';
import { type Pair, pairsOf, positionOf, resolved } from './pairs.ts';
import { readSettings, type Source } from './settings.ts';

/**
 * Reads `proxy` of a front end: a list of maps.
 *
 * @param frontEnd the name of the front end
 * @param described the path of the setting, for people
 */
export function readApis(
  { value, position }: Pair,
  frontEnd: string,
  described: string,
  source: Source,
): readonly FileApi[] {
  const { yaml, report } = source;
  if (!isSeq(value)) {
    report(position, `${described} is not a list of maps, each with path and url`);
    return [];
  }
  const { items } = value;
  if (items.length === 0) report(position, `${described} is an empty list`);
  if (items.length > limits.apisOfFrontEnd) {
    report(position, `${described} has more than ${limits.apisOfFrontEnd} entries`);
    return [];
  }
  return items.flatMap((item) => {
    const map = resolved(item, yaml);
    const at = positionOf(item, yaml);
    if (!isMap(map)) {
      report(at, `${described} has an entry that is not a map`);
      return [];
    }
    const pairs = pairsOf(map, yaml, report);
    const place = { kind: 'proxy', name: frontEnd } as const;
    return [{ position: at, ...readSettings(pairs, place, source) }];
  });
}
