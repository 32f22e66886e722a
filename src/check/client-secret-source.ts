import { type OptionSources, sourceOf } from '../config/option-values.ts';
import { describeOption } from '../config/options.ts';

/** Where the client secret in effect comes from, unless it is given twice. */
export function clientSecretSource(
  sources: OptionSources,
): 'flag' | 'environment' | 'file' | 'credential' {
  if (sourceOf('clientSecretFile', sources) !== undefined) return 'file';
  return sourceOf('clientSecret', sources) ?? 'credential';
}

/** The same, as text for the operator. */
export function describeClientSecret(sources: OptionSources): string {
  switch (clientSecretSource(sources)) {
    case 'file':
      return `the file of ${describeOption('clientSecretFile')}`;
    case 'credential':
      return 'the systemd credential provider-client-secret';
    default:
      return describeOption('clientSecret');
  }
}
