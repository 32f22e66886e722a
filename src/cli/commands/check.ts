import { checkCertificateAuthorities } from '../../check/certificate-authorities.ts';
import { effectiveOptions } from '../../check/effective-options.ts';
import { examine } from '../../check/examine.ts';
import { type Finding, problem, warning } from '../../check/finding.ts';
import { type CheckReport, reportAsJson, reportAsText } from '../../check/report.ts';
import { readConfig } from '../../config/config.ts';
import { type LoginConfig, loginConfig } from '../../config/login-config.ts';
import { type OptionSources, withoutOverruled } from '../../config/option-values.ts';
import { expectCreatable, readTextFile } from '../../config/text-file.ts';
import { ConfigError } from '../../start-errors.ts';
import { print } from '../print.ts';

/**
 * `login-relay check`: shows the configuration in effect, and what is wrong with it, with its addresses
 * and with the provider.
 *
 * @returns the exit code: 0 no problem found, though there may be warnings, and things that could not be
 *   checked; 1 a problem; 2 the configuration has faults
 */
export async function check(sources: OptionSources, json: boolean): Promise<0 | 1 | 2> {
  const { report, code } = await diagnose(sources);
  await print(json ? reportAsJson(report) : reportAsText(report));
  return code;
}

/** Makes the report of {@link check}, and its exit code. */
export async function diagnose(
  given: OptionSources,
): Promise<{ readonly report: CheckReport; readonly code: 0 | 1 | 2 }> {
  const sources = withoutOverruled(given);
  let config: LoginConfig;
  let warnings: readonly string[];
  try {
    const reading = readConfig({
      ...sources,
      readFile: readTextFile,
      newFiles: { expect: expectCreatable },
    });
    warnings = reading.warnings;
    config = loginConfig(reading.config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.faults.map((fault) => problem('configuration', fault, null));
    const options = effectiveOptions(sources, undefined, undefined);
    return { report: { options, callbackUrl: null, findings }, code: 2 };
  }
  const { findings: examined, provider } = await examine(config, sources, Date.now);
  const findings: Finding[] = [
    ...warnings.map((message) => warning('configuration', message, null)),
    ...checkCertificateAuthorities(sources.environment, readTextFile),
    ...examined,
  ];
  const options = effectiveOptions(sources, config, provider);
  const code = findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
  return { report: { options, callbackUrl: config.redirectUri, findings }, code };
}
