import { type Config, type ConfigReading, readConfig } from '../config/config.ts';
import type { Unseen } from '../config/map-reading.ts';
import { chooseSources, findGivenOption, type OptionSources } from '../config/option-sources.ts';
import { mapNonEmpty, requireChecked } from '../config/readings.ts';
import { frontEndsWithBrowsers, registrationsOfFrontEnd } from '../config/relations.ts';
import { formatConfigFile } from '../config/shown/print.ts';
import { ConfigError } from '../failures/start-errors.ts';
import { registrationPath } from '../paths.ts';
import type { Provider } from '../providers/provider.ts';
import { newFiles, type ReadFile, readTextFile } from '../text-files.ts';
import { checkAccess } from './access.ts';
import { checkAddresses, checkBaseUrl, checkCallbackPath } from './addresses.ts';
import { checkAuthorizationEndpoint, checkScope } from './authorization-endpoint.ts';
import { checkCmsBaseUrl, formatCmsConfigs } from './cms.ts';
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

/** The report of `login-relay check`, as `--json` prints it. */
export interface CheckReport {
  /** The effective configuration as a file; null if it has faults. */
  readonly configuration: string | null;
  /** The URL to register at the provider; null if the configuration has faults, or has several URLs. */
  readonly callbackUrl: string | null;
  /** The URLs to register by the words in their paths, if there are several. */
  readonly callbackUrls?: Readonly<Record<string, string>>;
  readonly cms?: ReturnType<typeof formatCmsConfigs>;
  /** The answers of the provider to the login that `--login` waits for. */
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
  const { reading, isFromFile, findings: ofConfiguration } = readConfigToCheck(given, readFile);
  if (reading === undefined) {
    return { report: { configuration: null, callbackUrl: null, findings: ofConfiguration }, code: 2 };
  }
  const { config, readings } = reading;
  const { findings: ofCalls, described } = await callAddresses(reading, isFromFile);
  const configuration = formatConfigFile(readings, config, described);
  const cms = formatCmsConfigs(config);
  const findings = [
    ...ofConfiguration,
    ...checkCmsBaseUrl(config),
    ...checkAccess(config, described),
    ...(await checkSharedMemory(reading)),
    ...ofCalls,
  ];
  const code = findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
  const callbacks = collectCallbackUrls(config, isFromFile);
  const report = { configuration, ...callbacks, ...(cms.length > 0 && { cms }), findings };
  return { report, code };
}

/** Collects the URLs to register. With a file, even a single one is named by the word in its path. */
function collectCallbackUrls({ registrations }: Config, isFromFile: boolean) {
  const paths = registrations.flatMap((registration) => registration.paths);
  const callbackUrls = Object.fromEntries(paths.map(({ word, callbackUri }) => [word, callbackUri]));
  const hasSeveral = new Set(Object.values(callbackUrls)).size > 1;
  return isFromFile || hasSeveral ? { callbackUrl: null, callbackUrls } : { callbackUrl: registrations[0].callbackUri };
}

/**
 * Reads the configuration to check. Without any option, it is the file of the packaged service.
 *
 * @returns the findings, and a reading unless the configuration has faults
 */
export function readConfigToCheck(given: OptionSources, readFile: ReadFile) {
  const { notChecked, problem, warning } = findingsOn('configuration');
  const { sources, why: whyPackagedFile } = chooseSources(given, readFile);
  const ofChoice = whyPackagedFile === undefined ? [] : [findingsOn('configuration file').ok(whyPackagedFile)];
  const isFromFile = findGivenOption('config', sources) !== undefined;
  // `readConfig` adds the secrets that this user cannot read.
  const unseen: Unseen[] = [];
  try {
    const reading = readConfig({
      ...sources,
      readFile,
      // Without `create`, because a check must not create the relay's files.
      newFiles: { expectCreatable: newFiles.expectCreatable },
      unseen,
    });
    const findings = [
      ...ofChoice,
      ...reading.warnings.map((message) => warning(message)),
      ...unseen.map(({ message, fix }) => notChecked(message, fix)),
    ];
    return { reading, isFromFile, findings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = [...ofChoice, ...error.faults.map((fault) => problem(fault))];
    return { reading: undefined, isFromFile, findings };
  }
}

/**
 * Calls all addresses of the configuration: the relay's own, the pages of its front ends, its resources, and each
 * provider with a made-up code and token.
 *
 * @param isFromFile whether a file describes registrations and front ends, so that findings have to name theirs
 * @returns the findings, and the providers by registration, as far as they are known
 */
async function callAddresses({ config, readings }: ConfigReading, isFromFile: boolean) {
  const client = createCheckClient(config);
  // `checkLogin` fills this map.
  const described = new Map<string, Provider>();
  const { registrations, frontEnds } = config;
  const createContext = (registration = registrations[0], given = frontEnds[0]): CheckContext => {
    // Without a configured front end, only browsers at a resource log in.
    const frontEnd = requireChecked(given ?? frontEndsWithBrowsers(config, registration)[0]);
    const naming = createNaming(readings, registration.name, frontEnd.name);
    return { ...naming, config, registration, frontEnd, client };
  };

  /**
   * Checks the addresses and the provider of one login.
   *
   * @param ofPages the findings on pages, which are shown before the findings on the provider
   */
  async function checkLogin(context: CheckContext, ofPages?: Promise<Finding[]>) {
    const ofBaseUrl = Promise.all([checkBaseUrl(context), checkCallbackPath(context)]);
    const { findings: ofDiscovery, provider } = await checkDiscovery(context);
    if (provider) described.set(context.registration.name, provider);
    const ofProvider = provider ? await checkProvider({ ...context, provider }) : [];
    const ofAddresses = [...checkAddresses(context, provider), ...(await ofBaseUrl).flat()];
    return [...ofAddresses, ...((await ofPages) ?? []), ...ofDiscovery, ...ofProvider];
  }

  /**
   * Checks each registration, front end and resource of a file, each with a typical partner. A machine comes last,
   * because it starts no login.
   */
  async function checkEntries(): Promise<Finding[]> {
    const ofRegistrations = mapInGroups(registrations, async (registration) => {
      const ownFrontEnds = frontEndsWithBrowsers(config, registration);
      const frontEnd = ownFrontEnds.find(({ kind }) => kind !== 'machine') ?? ownFrontEnds[0];
      return addNameToSubjects(registration, await checkLogin(createContext(registration, frontEnd)));
    });
    const ofFrontEnds = mapInGroups(frontEnds, async (frontEnd) => {
      const [registration] = registrationsOfFrontEnd(config, frontEnd);
      return addNameToSubjects(frontEnd, await checkFrontEnd(createContext(registration, frontEnd)));
    });
    const ofResources = mapInGroups(config.resources, async (resource) => {
      const registration = registrations.find(({ name }) => name === resource.registrations[0]);
      return addNameToSubjects(resource, await checkResource(createContext(registration), resource));
    });
    // All three run at the same time, because each may take as long as a call may.
    return (await Promise.all([ofRegistrations, ofFrontEnds, ofResources])).flat(2);
  }

  const context = createContext();
  const findings = isFromFile ? checkEntries() : checkLogin(context, checkFrontEnd(context));
  return { findings: await findings.finally(client.close), described };
}

/** Checks the endpoints of a provider. The token request has the callback URL that the authorization endpoint accepts. */
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
 * Checks the authorization endpoint with the callback URL of each path. If the provider accepts at least one of them,
 * the others are no problem: front ends use only one path, and some providers accept only one callback URL.
 *
 * @returns the findings, and the registration with the first accepted callback URL
 */
async function checkCallbacks(context: ProviderContext) {
  // Paths that share a callback URL are checked once.
  const pathsByUri = Map.groupBy(context.registration.paths, ({ callbackUri }) => callbackUri);
  const distinctPaths = [...pathsByUri.values()].flatMap(([path]) => path ?? []);
  const attempts = mapNonEmpty(distinctPaths, async ({ word, callbackUri }) => {
    const registration = { ...context.registration, callbackUri };
    const findings = await checkAuthorizationEndpoint({ ...context, registration });
    return { word, registration, findings, isRefused: findings.some(({ verdict }) => verdict === 'problem') };
  });
  const [first, ...others] = await Promise.all(attempts);
  if (others.length === 0) return first;
  const all = [first, ...others];
  const accepted = all.find(({ isRefused }) => !isRefused);
  const findings = all.flatMap(({ word, registration: { callbackUri }, findings, isRefused }) => {
    const path = registrationPath(word);
    if (!isRefused || accepted === undefined) return addNameToSubjects({ name: path }, findings);
    const message = `the provider refuses ${callbackUri}, so logins do not start at ${path}`;
    return [findingsOn('callback URL').ok(message)];
  });
  return { findings, registration: (accepted ?? first).registration };
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
  const groupSize = 20;
  for (let start = 0; start < items.length; start += groupSize) {
    const group = items.slice(start, start + groupSize);
    results.push(...(await Promise.all(group.map(task))));
  }
  return results;
}

/** Adds the name of an entry to the subjects of its findings: `discovery (github)`. */
function addNameToSubjects({ name }: { readonly name: string }, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, subject: `${finding.subject} (${name})` }));
}
