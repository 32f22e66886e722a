import { isMap, isScalar, type Node } from 'yaml';
import type { ConfigFile } from './config-file.ts';
import { describePlace } from './describe.ts';
import { readEntries } from './entries.ts';
import { pairsOf, positionOf, resolved } from './pairs.ts';
import { placedTexts } from './placed-texts.ts';
import { readSettings, type Source } from './settings.ts';
import { parseYaml, type ReportAt } from './yaml.ts';

/**
 * Parses a configuration file. Its settings become the texts that their flags would have, with their places. Their
 * schemas do not check them yet.
 *
 * @param path where the text is from. It begins every fault, and paths in the file are relative to its directory
 * @param faults gets the faults; none is in it yet
 * @returns the file, or all faults of its form, which never quote a value. If it is clear what the rest means, both
 */
export function parseConfigFile(
  text: string,
  path: string,
  faults = placedTexts(),
):
  | { readonly file: ConfigFile }
  | { readonly faults: readonly string[]; readonly file: ConfigFile | undefined } {
  // The faults of a map are found again in each map that it is merged into.
  const report: ReportAt = (position, message) =>
    faults.add(`${describePlace(path, position)} ${message}`, position);
  const yaml = parseYaml(text, report);
  let isClear = true;
  const giveUp: ReportAt = (position, message) => {
    isClear = false;
    report(position, message);
  };
  const file = yaml && readFile({ path, yaml, report, giveUp });
  const found = faults.inOrder();
  if (file !== undefined && found.length === 0) return { file };
  return { faults: found, file: isClear ? file : undefined };
}

function readFile(source: Source): ConfigFile | undefined {
  const { path, yaml, report } = source;
  const content = resolved(yaml.document.contents, yaml);
  if (!isMap(content) && !isBlank(content)) {
    report(positionOf(content, yaml), 'is not a map of settings, such as port: 8000');
    return undefined;
  }
  const pairs = isMap(content) ? pairsOf(content, yaml, report) : [];
  const maps = Map.groupBy(pairs, ({ key }) =>
    key === 'providers' || key === 'front-ends' ? key : 'relay',
  );
  const [providers] = maps.get('providers') ?? [];
  const [frontEnds] = maps.get('front-ends') ?? [];
  return {
    path,
    relay: readSettings(maps.get('relay') ?? [], { kind: 'relay' }, source),
    providers: providers && readEntries(providers, 'providers', source),
    frontEnds: frontEnds && readEntries(frontEnds, 'front-ends', source),
  };
}

function isBlank(content: Node | undefined): boolean {
  return content === undefined || (isScalar(content) && content.value === null);
}
