import * as v from 'valibot';
import type { Naming } from '../config/reading.ts';
import * as schemas from '../config/schemas.ts';
import type { Provider } from '../providers/provider.ts';
import { type Finding, warning } from './finding.ts';

const longestList = 400;

/** Compares the scope with the ones that the metadata lists. Reports nothing if there is no list. */
export function checkScope(
  { scope = '', scopesSupported }: Provider,
  { describe }: Naming,
): Finding[] {
  if (scopesSupported === undefined) return [];
  const unlisted = scope
    .split(' ')
    .filter((word) => word !== '' && !scopesSupported.includes(word));
  if (unlisted.length === 0) return [];
  // Providers may send anything: only a short list of scopes is shown.
  const listed = scopesSupported.join(' ');
  const isShown = v.is(schemas.scope, listed) && listed.length <= longestList;
  return [
    warning(
      'scope',
      `the provider does not list ${unlisted.join(', ')}: it may ignore that, or refuse the login`,
      `compare ${describe('scope')} with ${isShown ? listed : 'scopes_supported in the metadata'}`,
    ),
  ];
}
