import * as v from 'valibot';
import { isMap } from 'yaml';
import { limits } from '../../limits.ts';
import { acceptedWords } from '../accepted-words.ts';
import { options } from '../options.ts';
import { pathSegment } from '../schemas.ts';
import { readApis } from './apis.ts';
import type { ConfigFile, FileEntry } from './config-file.ts';
import { type Pair, pairsOf } from './pairs.ts';
import { readSettings, type Source } from './settings.ts';

type Kind = FileEntry['kind'];

/** The words that are endpoints after `/auth/<provider>/`: no front end can have their names. */
export const endpoints: readonly string[] = ['callback', 'token', 'revoke'];

const mostEntries: Readonly<Record<Kind, number>> = {
  providers: limits.registrations,
  'front-ends': limits.frontEnds,
};

/** The settings that choose a provider. */
const choices = ['provider', 'issuer', 'authorizeUrl', 'tokenUrl'] as const;

/** Reads the entries of `providers` or `front-ends`. Undefined after reporting that there are none. */
export function readEntries(map: Pair, kind: Kind, source: Source): ConfigFile['providers'] {
  const { yaml, report, giveUp } = source;
  if (!isMap(map.value)) {
    giveUp(map.position, `${kind} is not a map of names, each with its settings`);
    return undefined;
  }
  const pairs = pairsOf(map.value, yaml, report);
  const beyond = pairs[mostEntries[kind]];
  if (beyond !== undefined) {
    giveUp(beyond.position, `${kind} has more than ${mostEntries[kind]} entries`);
    return undefined;
  }
  const [first, ...others] = pairs.map((pair) => readEntry(pair, kind, source));
  if (first === undefined) giveUp(map.position, `${kind} has no entries`);
  return first && [first, ...others];
}

function readEntry({ key: name, position, value }: Pair, kind: Kind, source: Source): FileEntry {
  const { yaml, report, giveUp } = source;
  const [issue] = v.safeParse(pathSegment, name).issues ?? [];
  if (issue !== undefined) giveUp(position, `${kind} has a name that ${issue.message}`);
  if (kind === 'front-ends' && endpoints.includes(name)) {
    report(position, `${kind}.${name} has the name of an endpoint: choose another name`);
  }
  if (!isMap(value)) report(position, `${describe(kind, name)} is not a map of settings`);
  const pairs = isMap(value) ? pairsOf(value, yaml, report) : [];
  const [proxy] = pairs.filter(({ key }) => key === 'proxy' && kind === 'front-ends');
  const apis = proxy ? readApis(proxy, name, `${describe(kind, name)}.proxy`, source) : [];
  const settings = readSettings(
    pairs.filter((pair) => pair !== proxy),
    { kind, name },
    source,
  );
  const values = kind === 'providers' ? withPreset(name, settings.values) : settings.values;
  return { kind, name, position, values, positions: settings.positions, apis };
}

/** Gives a provider that has the name of a preset that preset, unless the entry names another provider. */
function withPreset(name: string, values: FileEntry['values']): FileEntry['values'] {
  const isNamed = choices.some((choice) => values[choice] !== undefined);
  return isNamed || !acceptedWords(options.provider).includes(name)
    ? values
    : { ...values, provider: [name] };
}

/** The path of an entry. A word that cannot be a name is left out: it may be anything. */
function describe(kind: Kind, name: string): string {
  return v.is(pathSegment, name) ? `${kind}.${name}` : kind;
}
