import { describeOption } from '../config/options.ts';
import type { Provider } from '../providers/provider.ts';
import { type Finding, warning } from './finding.ts';

/** Compares the scope with the ones that the metadata lists. Without a list there is nothing to say. */
export function checkScope({ scope = '', scopesSupported }: Provider): Finding[] {
  if (scopesSupported === undefined) return [];
  const unlisted = scope
    .split(' ')
    .filter((word) => word !== '' && !scopesSupported.includes(word));
  if (unlisted.length === 0) return [];
  return [
    warning(
      'scope',
      `the provider does not list ${unlisted.join(', ')} among its scopes: it may ignore or refuse it`,
      `compare ${describeOption('scope')} with ${scopesSupported.join(' ')}`,
    ),
  ];
}
