import { type OptionSources, sourceOf } from '../config/option-values.ts';
import { describeOption } from '../config/options.ts';

/** Where the client secret in effect comes from: a flag beats a variable, and either the credential. */
export function clientSecretSource(
  sources: OptionSources,
): 'flag' | 'environment' | 'file' | 'credential' {
  const direct = sourceOf('clientSecret', sources);
  const file = sourceOf('clientSecretFile', sources);
  if (file !== undefined && direct !== 'flag') return 'file';
  return direct ?? 'credential';
}

/** The same, as the operator is told of it. */
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
