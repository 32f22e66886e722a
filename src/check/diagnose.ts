import { type ConfigReading, readConfig } from '../config/config.ts';
import type { Unseen } from '../config/reading.ts';
import { mapNonEmpty, requireChecked } from '../config/readings.ts';
import { frontEndsWithBrowsers, registrationsOfFrontEnd } from '../config/registration-config.ts';
import { formatConfigFile } from '../config/shown/print.ts';
import { chooseSources, findGivenOption, type OptionSources } from '../config/sources.ts';
import { ConfigError } from '../failures/start-errors.ts';
import type { Provider } from '../providers/provider.ts';
import { newFiles, type ReadFile, readTextFile } from '../text-files.ts';
import { checkAccess } from './access.ts';
import { checkAddresses, checkBaseUrl, checkCallbackPath } from './addresses.ts';
import { checkAuthorizationEndpoint, checkScope } from './authorization-endpoint.ts';
import { checkCmsBaseUrl, cmsConfigs } from './cms.ts';
import { type CheckContext, createCheckClient, createNaming, type ProviderContext } from './context.ts';
import { checkDiscovery } from './discovery.ts';
import { type Finding, findingsOn } from './finding.ts';
import { checkFrontEnd } from './front-end.ts';
import type { ShownAnswer } from './login/calls.ts';
import { checkRefreshEndpoint } from './refresh-endpoint.ts';
import { checkResource } from './resource.ts';
import { checkSharedMemory } from './shared-memory.ts';
import { checkTokenEndpoint } from './token-endpoint.ts';
import { checkTokens } from './tokens.ts';
import { checkUserEndpoint } from './user-endpoint.ts';

export interface CheckReport {
  readonly configuration: string | null;
  /** To be registered at the provider; null if the configuration has faults, or there are several. */
  readonly callbackUrl: string | null;
  /** To be registered for each registration of a configuration file, or each path of the only one. */
  readonly callbackUrls?: Readonly<Record<string, string>>;
  readonly cms?: ReturnType<typeof cmsConfigs>;
  /** Only with `--login`. */
  readonly answers?: readonly ShownAnswer[];
  readonly findings: readonly Finding[];
}

/**
 * Examines the effective configuration, its addresses and its providers. Without any option, it reads the file of the
 * packaged service.
 *
 * @returns the report, and the exit code: 0 without a problem, though there may be warnings and things that could not
 *   be checked; 1 with a problem; 2 if the configuration has faults
 */
export async function diagnose(
  given: OptionSources,
  readFile: ReadFile = readTextFile,
): Promise<{ readonly report: CheckReport; readonly code: 0 | 1 | 2 }> {
  const { reading, isFromFile, findings: ofConfiguration } = readGiven(given, readFile);
  if (reading === undefined) {
    return { report: { configuration: null, callbackUrl: null, findings: ofConfiguration }, code: 2 };
  }
  const { config, readings } = reading;
  const examined = await examine(reading, isFromFile);
  const urls = config.registrations.flatMap(({ paths }) => paths);
  const callbackUrls = Object.fromEntries(urls.map(({ word, callbackUri }) => [word, callbackUri]));
  const callbacks =
    isFromFile || new Set(Object.values(callbackUrls)).size > 1
      ? { callbackUrl: null, callbackUrls }
      : { callbackUrl: config.registrations[0].callbackUri };
  const configuration = formatConfigFile(readings, config, examined.described);
  const cms = cmsConfigs(config);
  const findings = [
    ...ofConfiguration,
    ...checkCmsBaseUrl(config),
    ...checkAccess(config, examined.described),
    ...(await checkSharedMemory(reading)),
    ...examined.findings,
  ];
  const code = findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
  const report = { configuration, ...callbacks, ...(cms.length > 0 && { cms }), findings };
  return { report, code };
}

/**
 * Reads the configuration to examine. Without any option, it is the file of the packaged service.
 *
 * @returns no reading if the configuration has faults, which are the findings then
 */
export function readGiven(given: OptionSources, readFile: ReadFile) {
  const { notChecked, ok, problem, warning } = findingsOn('configuration');
  const { sources, why } = chooseSources(given, readFile);
  const chosen = why === undefined ? [] : [ok(why)];
  const isFromFile = findGivenOption('config', sources) !== undefined;
  const unseen: Unseen[] = [];
  try {
    const reading = readConfig({
      ...sources,
      readFile,
      newFiles: { expectCreatable: newFiles.expectCreatable },
      unseen,
    });
    const findings = [
      ...chosen,
      ...reading.warnings.map((message) => warning(message)),
      ...unseen.map(({ message, fix }) => notChecked(message, fix)),
    ];
    return { reading, isFromFile, findings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { reading: undefined, isFromFile, findings: [...chosen, ...error.faults.map((fault) => problem(fault))] };
  }
}

/**
 * Checks the relay's own addresses and the pages of its front ends, and calls each provider with a made-up code and
 * token.
 *
 * @param isFromFile whether a file describes registrations and front ends, so that findings have to name theirs
 * @returns also the providers, by registration, as far as they are known
 */
async function examine({ config, readings }: ConfigReading, isFromFile: boolean) {
  const client = createCheckClient(config);
  const described = new Map<string, Provider>();
  const { registrations, frontEnds } = config;
  const contextOf = (registration = registrations[0], given = frontEnds[0]): CheckContext => {
    const frontEnd = requireChecked(given ?? frontEndsWithBrowsers(config, registration)[0]);
    const naming = createNaming(readings, registration.name, frontEnd.name);
    return { ...naming, config, registration, frontEnd, client };
  };

  /** @param ofPages findings of a call that runs at the same time, to be placed between these */
  async function examineLogin(context: CheckContext, ofPages?: Promise<Finding[]>) {
    const ofBaseUrl = Promise.all([checkBaseUrl(context), ...checkCallbackPath(context)]);
    const { findings: ofDiscovery, provider } = await checkDiscovery(context);
    if (provider) described.set(context.registration.name, provider);
    const ofProvider = provider ? await checkProvider({ ...context, provider }) : [];
    const ofAddresses = [...checkAddresses(context, provider), ...(await ofBaseUrl)];
    return [...ofAddresses, ...((await ofPages) ?? []), ...ofDiscovery, ...ofProvider];
  }

  async function examineAll(): Promise<Finding[]> {
    const ofRegistrations = mapInGroups(registrations, async (registration) => {
      const there = frontEndsWithBrowsers(config, registration);
      const frontEnd = there.find(({ kind }) => kind !== 'machine') ?? there[0];
      return about(registration, await examineLogin(contextOf(registration, frontEnd)));
    });
    const ofFrontEnds = mapInGroups(frontEnds, async (frontEnd) => {
      const [registration] = registrationsOfFrontEnd(config, frontEnd);
      return about(frontEnd, await checkFrontEnd(contextOf(registration, frontEnd)));
    });
    const ofResources = mapInGroups(config.resources, async (resource) => {
      const registration = registrations.find(({ name }) => name === resource.registrations[0]);
      return about(resource, await checkResource(contextOf(registration), resource));
    });
    // At once, because each may take as long as a call may.
    return (await Promise.all([ofRegistrations, ofFrontEnds, ofResources])).flat(2);
  }

  const context = contextOf();
  const examined = isFromFile ? examineAll() : examineLogin(context, checkFrontEnd(context));
  return { findings: await examined.finally(client.close), described };
}

/**
 * Checks the endpoints of a provider. The token request uses the callback URL that works at the authorization endpoint.
 */
async function checkProvider(context: ProviderContext): Promise<Finding[]> {
  const { findings, registration } = await checkCallbacks(context);
  const ofEndpoints = await Promise.all([
    checkTokenEndpoint({ ...context, registration }),
    checkRefreshEndpoint(context),
    checkUserEndpoint(context),
  ]);
  return [...checkScope(context), ...checkTokens(context), ...findings, ...ofEndpoints.flat()];
}

/**
 * Checks the authorization endpoint with the callback URL of each path. One that works is enough, because front ends
 * use one, and some providers accept only one; the others are then reported as ok.
 *
 * @returns the findings, and the registration with that callback URL
 */
async function checkCallbacks(context: ProviderContext) {
  // Paths that share a callback URL are checked once.
  const byUri = Map.groupBy(context.registration.paths, ({ callbackUri }) => callbackUri);
  const each = [...byUri.values()].flatMap(([first]) => first ?? []);
  const tried = mapNonEmpty(each, async ({ word, callbackUri }) => {
    const registration = { ...context.registration, callbackUri };
    const found = await checkAuthorizationEndpoint({ ...context, registration });
    return { word, registration, found, isBad: found.some(({ verdict }) => verdict === 'problem') };
  });
  const [first, ...others] = await Promise.all(tried);
  const all = [first, ...others];
  const used = all.find(({ isBad }) => !isBad) ?? first;
  const findings = all.flatMap(({ word, registration: { callbackUri }, found, isBad }) => {
    if (all.length === 1) return found;
    const at = `/auth/${word}`;
    if (!isBad || used.isBad) return about({ name: at }, found);
    const message = `the provider refuses ${callbackUri}, so logins do not start at ${at}`;
    return [findingsOn('callback URL').ok(message)];
  });
  return { findings, registration: used.registration };
}

/**
 * Runs a task for each item, several at once. One after another, a thousand addresses that do not answer would take
 * hours.
 */
async function mapInGroups<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const atOnce = 20;
  for (let start = 0; start < items.length; start += atOnce) {
    const group = items.slice(start, start + atOnce);
    results.push(...(await Promise.all(group.map(task))));
  }
  return results;
}

function about({ name }: { readonly name: string }, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, subject: `${finding.subject} (${name})` }));
}
