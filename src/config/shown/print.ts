import { resolve } from 'node:path';
import { Document, stringify, YAMLMap } from 'yaml';
import type { Provider } from '../../providers/provider.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config.ts';
import { effective } from '../given.ts';
import { providerValues } from '../provider.ts';
import type { Reading } from '../reading.ts';
import {
  checked,
  type FrontEndReading,
  type Readings,
  type RegistrationReading,
} from '../readings.ts';
import { filePath, sharedMemory, typedValue } from '../schemas.ts';
import type { Level } from '../settings/setting.ts';
import { type FileSetting, fileSettings } from '../settings/settings.ts';

const masked = '[secret]';

/** Writes what is in effect of a setting into the map of its level. */
type Write = (map: YAMLMap, setting: FileSetting, found: ReturnType<typeof effective>) => void;

/** Texts in effect that no setting gives. */
type Texts = Readonly<Record<string, string | undefined>>;

/**
 * The configuration in effect as a configuration file. A comment after each setting says where its value is from. What
 * no setting gives is in comments, so that the file means the same if it is read. Secrets are masked.
 *
 * @param config adds what presets, issuers and other settings give
 * @param described the providers that issuers have described, by the name of the registration
 */
export function printFile(
  readings: Readings,
  config?: Config,
  described: ReadonlyMap<string, Provider> = new Map(),
): string {
  const document = new Document();
  const baseUrl = config && { texts: [config.baseUrl], from: 'default' };
  const write: Write = (map, { name, key, schema, secret }, found) => {
    const { texts, from } = found ?? (name === 'baseUrl' ? baseUrl : undefined) ?? {};
    if (texts === undefined) return;
    // The address of a shared memory with a password is a fault.
    const isSecret = secret && schema !== filePath && schema !== sharedMemory;
    const values = texts.map((text) => (isSecret ? masked : typedValue(schema, text)));
    const node = document.createNode(values.length === 1 ? values[0] : values, { flow: true });
    node.comment = ` ${from}`;
    map.set(key, node);
  };
  const file = fileOf(
    readings,
    write,
    (reading, index) =>
      config ? ofRegistration(reading, checked(config.registrations[index]), described) : [],
    (reading, index) => (config ? ofFrontEnd(reading, checked(config.frontEnds[index])) : []),
  );
  return stringify(file, { lineWidth: 0, flowCollectionPadding: false });
}

/**
 * The file that does what the flags and variables in effect do. Defaults are left out, and paths are absolute. If the
 * client secret is among them, the file names one to put it into.
 */
export function migratedFile(readings: Readings): string {
  const file = fileOf(readings, (map, { name, key, schema }, found) => {
    const { texts = [], from } = found ?? {};
    // In a file, a provider with endpoints of its own has no preset by default.
    if (from === undefined || (from === 'default' && name !== 'provider')) return;
    const values = texts.map((text) =>
      schema === filePath ? resolve(text) : typedValue(schema, text),
    );
    if (name === 'clientSecret') map.set('client-secret-file', './client-secret');
    else map.set(key, values.length === 1 ? values[0] : values);
  });
  return stringify(file);
}

type CommentOf<Entry> = (reading: Entry, index: number) => readonly string[];

/**
 * @param ofRegistration the lines after a registration
 * @param ofFrontEnd the lines after a front end
 */
function fileOf(
  { relay, registrations, frontEnds }: Readings,
  write: Write,
  ofRegistration: CommentOf<RegistrationReading> = () => [],
  ofFrontEnd: CommentOf<FrontEndReading> = () => [],
): YAMLMap {
  function settingsOf<At extends Level>(reading: Reading<At>): YAMLMap {
    const map = new YAMLMap();
    for (const setting of fileSettings[reading.level]) {
      write(map, setting, effective(reading.map, setting.name));
    }
    return map;
  }
  const commented = (map: YAMLMap, lines: readonly string[]) => {
    map.comment = lines.join('\n') || null;
    return map;
  };
  const file = settingsOf(relay);
  const providers = registrations.map((reading, index) => {
    const map = settingsOf(reading);
    if (reading.allow) map.set('allow', settingsOf(reading.allow));
    return [reading.name, commented(map, ofRegistration(reading, index))] as const;
  });
  const pages = frontEnds.map((reading, index) => {
    const { name, apis, allow, clients } = reading;
    const map = settingsOf(reading);
    if (apis.length > 0) map.set('proxy', apis.map(settingsOf));
    if (allow) map.set('allow', settingsOf(allow));
    if (clients) map.set('clients', settingsOf(clients));
    return [name, commented(map, ofFrontEnd(reading, index))] as const;
  });
  file.set('providers', new Map(providers));
  file.set('front-ends', new Map(pages));
  return file;
}

function ofRegistration(
  reading: RegistrationReading,
  { name, provider: settings, stateCheck }: RegistrationConfig,
  described: ReadonlyMap<string, Provider>,
): string[] {
  const preset = effective(reading.map, 'provider')?.texts[0];
  const provider = 'known' in settings ? settings.known : described.get(name);
  let from = preset === undefined ? 'by default' : `by the preset ${preset}`;
  if (effective(reading.map, 'issuer')) {
    from = provider ? 'by the issuer' : 'not known now: login-relay check says why';
  }
  const unknown = { authorizeUrl: '?', tokenUrl: '?', userUrl: '?' };
  const values = provider ? providerValues(provider) : unknown;
  return [...comment(reading, from, values), ...comment(reading, 'by default', { stateCheck })];
}

function ofFrontEnd(
  reading: FrontEndReading,
  { frontendUrl, redirectUris, errorDelivery, registrations }: FrontEndConfig,
): string[] {
  const listed = (texts: readonly string[]) =>
    texts.length === 0 ? undefined : `[${texts.join(', ')}]`;
  return comment(reading, 'by default', {
    frontendUrl,
    redirectUri: listed(redirectUris),
    errorDelivery,
    providers: listed(registrations),
  });
}

/** Lines about what the entry does not set. */
function comment<At extends Level>(reading: Reading<At>, from: string, texts: Texts): string[] {
  const lines = fileSettings[reading.level].flatMap(({ name, key }) =>
    texts[name] === undefined || effective(reading.map, name) ? [] : [`   ${key}: ${texts[name]}`],
  );
  return lines.length === 0 ? [] : [` ${from}:`, ...lines];
}
