import { resolve } from 'node:path';
import { Document, Scalar, stringify, YAMLMap, YAMLSeq } from 'yaml';
import type { Provider } from '../../providers/provider.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config.ts';
import { providerValues } from '../provider.ts';
import type { Reading } from '../reading.ts';
import type { Readings } from '../readings.ts';
import { filePath, sharedMemory, typedValue } from '../schemas.ts';
import type { Level, Setting } from '../settings/setting.ts';
import { fileSettings, type SettingName } from '../settings/settings.ts';

const masked = '[secret]';

/** Texts in effect that no setting gives. */
type Texts = Readonly<Partial<Record<SettingName, string | undefined>>>;

/**
 * The configuration in effect as a configuration file. A comment after each setting says where its value is from. What
 * no setting gives is in comments, so that the file means the same if it is read. Secrets are masked.
 *
 * @param config adds what presets, issuers and other settings give
 * @param described the providers that issuers have described, by the name of the registration
 */
export function printFile(
  { relay, registrations, frontEnds }: Readings,
  config?: Config,
  described: ReadonlyMap<string, Provider> = new Map(),
): string {
  const map = settingsMap(relay, 'relay', { baseUrl: config?.baseUrl });
  const [ofProviders, ofFrontEnds] = [new YAMLMap(), new YAMLMap()];
  for (const [index, reading] of registrations.entries()) {
    const entry = settingsMap(reading, 'providers');
    if (reading.allow) entry.set('allow', settingsMap(reading.allow, 'allow'));
    const registration = config?.registrations[index];
    const lines = registration ? ofRegistration(reading, registration, described) : [];
    entry.comment = lines.join('\n') || null;
    ofProviders.set(new Scalar(reading.name), entry);
  }
  for (const [index, reading] of frontEnds.entries()) {
    const entry = settingsMap(reading, 'front-ends');
    const apis = reading.apis.map((api) => settingsMap(api, 'proxy'));
    if (apis.length > 0) entry.set('proxy', sequence(apis));
    if (reading.allow) entry.set('allow', settingsMap(reading.allow, 'allow'));
    if (reading.clients) entry.set('clients', settingsMap(reading.clients, 'clients'));
    const frontEnd = config?.frontEnds[index];
    entry.comment = (frontEnd ? ofFrontEnd(reading, frontEnd) : []).join('\n') || null;
    ofFrontEnds.set(new Scalar(reading.name), entry);
  }
  map.set('providers', ofProviders);
  map.set('front-ends', ofFrontEnds);
  const document = new Document();
  document.contents = map;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/**
 * The file that does what the flags and variables in effect do. Defaults are left out, and paths are absolute. If the
 * client secret is among them, the file names one to put it into.
 */
export function migratedFile({ relay, registrations, frontEnds }: Readings): string {
  const entries = (readings: readonly (Reading & { name: string })[], level: Level) =>
    Object.fromEntries(readings.map((reading) => [reading.name, givenSettings(reading, level)]));
  return stringify({
    ...givenSettings(relay, 'relay'),
    providers: entries(registrations, 'providers'),
    'front-ends': entries(frontEnds, 'front-ends'),
  });
}

function givenSettings({ effective }: Reading, level: Level): Record<string, unknown> {
  return Object.fromEntries(
    fileSettings[level].flatMap(({ name, key, schema }): [string, unknown][] => {
      const { texts = [], from } = effective(name) ?? {};
      // In a file, a provider with endpoints of its own has no preset by default.
      if (from === undefined || (from === 'default' && name !== 'provider')) return [];
      if (name === 'clientSecret') return [['client-secret-file', './client-secret']];
      const values = texts.map((text) =>
        schema === filePath ? resolve(text) : typedValue(schema, text),
      );
      return [[key, values.length === 1 ? values[0] : values]];
    }),
  );
}

/** @param byDefault the defaults that depend on other settings */
function settingsMap(reading: Reading, level: Level, byDefault: Texts = {}): YAMLMap {
  const map = new YAMLMap();
  for (const { name, ...setting } of fileSettings[level]) {
    const text = byDefault[name];
    const effective = reading.effective(name) ?? (text && { texts: [text], from: 'default' });
    if (effective) map.set(setting.key, valueNode(setting, effective));
  }
  return map;
}

function valueNode(
  setting: Setting,
  { texts, from }: NonNullable<ReturnType<Reading['effective']>>,
): Scalar | YAMLSeq {
  // The address of a shared memory with a password is a fault.
  const isShown = setting.schema === filePath || setting.schema === sharedMemory;
  const isSecret = setting.secret === true && !isShown;
  const scalars = texts.map(
    (text) => new Scalar(isSecret ? masked : typedValue(setting.schema, text)),
  );
  const [first = new Scalar('')] = scalars;
  const node = scalars.length === 1 ? first : sequence(scalars);
  if (node instanceof YAMLSeq) node.flow = true;
  node.comment = ` ${from}`;
  return node;
}

function sequence(items: unknown[]): YAMLSeq {
  const node = new YAMLSeq();
  node.items = items;
  return node;
}

function ofRegistration(
  reading: Reading,
  { name, provider: settings, stateCheck }: RegistrationConfig,
  described: ReadonlyMap<string, Provider>,
): string[] {
  const byDefault = comment(reading, 'by default', 'providers', { stateCheck });
  if ('known' in settings) {
    const preset = reading.effective('provider')?.texts[0];
    const from = preset === undefined ? 'by default' : `by the preset ${preset}`;
    return [...comment(reading, from, 'providers', providerValues(settings.known)), ...byDefault];
  }
  const provider = described.get(name);
  const from = provider ? 'by the issuer' : 'not known now: login-relay check says why';
  const values = provider
    ? providerValues(provider)
    : { authorizeUrl: '?', tokenUrl: '?', userUrl: '?' };
  return [...comment(reading, from, 'providers', values), ...byDefault];
}

function ofFrontEnd(
  reading: Reading,
  { frontendUrl, redirectUris, errorDelivery, registrations }: FrontEndConfig,
): string[] {
  const listed = (texts: readonly string[]) =>
    texts.length === 0 ? undefined : `[${texts.join(', ')}]`;
  return comment(reading, 'by default', 'front-ends', {
    frontendUrl,
    redirectUri: listed(redirectUris),
    errorDelivery,
    providers: listed(registrations),
  });
}

/** Lines about what the entry does not set. */
function comment(reading: Reading, from: string, level: Level, texts: Texts): string[] {
  const lines = fileSettings[level].flatMap(({ name, key }) =>
    texts[name] === undefined || reading.effective(name) ? [] : [`   ${key}: ${texts[name]}`],
  );
  return lines.length === 0 ? [] : [` ${from}:`, ...lines];
}
