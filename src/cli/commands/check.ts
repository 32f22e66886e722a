import { checkAccess } from '../../check/access.ts';
import { checkCmsBaseUrl, cmsConfigs } from '../../check/cms.ts';
import { examine } from '../../check/examine.ts';
import { findingsOn } from '../../check/finding.ts';
import { type CheckReport, reportAsText } from '../../check/report.ts';
import { checkSharedMemory } from '../../check/shared-memory.ts';
import { type ConfigReading, readConfig } from '../../config/config.ts';
import { printFile } from '../../config/file/print.ts';
import type { Unseen } from '../../config/reading.ts';
import { options } from '../../config/settings/settings.ts';
import { givenBySources, type OptionSources } from '../../config/sources.ts';
import { ConfigError } from '../../start-errors.ts';
import { isMissingFile, newFiles, type ReadFile, readTextFile } from '../../text-files.ts';
import { print } from '../print.ts';

/** The file of the packaged service. */
const packagedFile = '/etc/login-relay/config.yaml';

/**
 * `login-relay check`: shows the configuration in effect, and what is wrong with it, with its addresses
 * and with the provider.
 *
 * @returns the exit code: 0 no problem found, though there may be warnings, and things that could not be
 *   checked; 1 a problem; 2 the configuration has faults
 */
export async function check(sources: OptionSources, json: boolean): Promise<0 | 1 | 2> {
  const { report, code } = await diagnose(sources);
  await print(json ? `${JSON.stringify(report, undefined, 2)}\n` : reportAsText(report));
  return code;
}

/** Makes the report of {@link check}, and its exit code. Without any option, it is that of the packaged service's file. */
export async function diagnose(
  given: OptionSources,
  readFile: ReadFile = readTextFile,
): Promise<{ readonly report: CheckReport; readonly code: 0 | 1 | 2 }> {
  const { notChecked, ok, problem, warning } = findingsOn('configuration');
  const isPackaged = isEmpty(given) && !isMissingFile(packagedFile, readFile);
  const sources = isPackaged ? { ...given, flags: { config: [packagedFile] } } : given;
  const chosen = isPackaged ? [ok(`no option is given, so this is ${packagedFile}`)] : [];
  const isFromFile = givenBySources('config', sources) !== undefined;
  const unseen: Unseen[] = [];
  let reading: ConfigReading;
  try {
    reading = readConfig({ ...sources, readFile, newFiles: { expect: newFiles.expect }, unseen });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = [...chosen, ...error.faults.map((fault) => problem(fault))];
    return { report: { configuration: null, callbackUrl: null, findings }, code: 2 };
  }
  const { config, readings } = reading;
  const examined = await examine(reading, isFromFile);
  const urls = config.registrations.map(({ name, redirectUri }) => [name, redirectUri]);
  const callbacks = isFromFile
    ? { callbackUrl: null, callbackUrls: Object.fromEntries(urls) }
    : { callbackUrl: config.registrations[0].redirectUri };
  const configuration = printFile(readings, config, examined.described);
  const cms = cmsConfigs(config);
  const findings = [
    ...chosen,
    ...reading.warnings.map((message) => warning(message)),
    ...unseen.map(({ message, fix }) => notChecked(message, fix)),
    ...checkCmsBaseUrl(config),
    ...checkAccess(config, examined.described),
    ...(await checkSharedMemory(reading)),
    ...examined.findings,
  ];
  const code = findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
  return {
    report: { configuration, ...callbacks, ...(cms.length > 0 && { cms }), findings },
    code,
  };
}

/** Whether no flag or variable of the relay is given. An empty variable for the file says that there is none. */
function isEmpty({ flags, environment }: OptionSources): boolean {
  const { config, ...others } = options;
  if (environment[config.variable] !== undefined || Object.keys(flags).length > 0) return false;
  return Object.values(others).every(({ variable }) => !environment[variable]);
}
