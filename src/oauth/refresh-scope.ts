import { RelayError } from '../errors.ts';
import { scopeForProvider } from './scope.ts';

/**
 * The scope that a refresh asks the provider for.
 *
 * @param asked what the front end asks for, with spaces between the words
 * @param granted what the login has. Some providers write commas between the words.
 * @returns undefined if the front end asks for all that it was told of
 * @throws {RelayError} `scope_refused` if it asks for more
 * @see RFC 6749 §6
 */
export function refreshScope(
  asked: string | undefined,
  granted: string | undefined,
): string | undefined {
  if (asked === undefined) return undefined;
  const words = asked.split(' ');
  const all = granted?.split(/[ ,]+/) ?? [];
  if (!words.every((word) => all.includes(word))) {
    throw new RelayError('scope_refused', { detail: 'The scope goes beyond what was granted.' });
  }
  const scope = scopeForProvider(words, all);
  return scope === all.join(' ') ? undefined : scope;
}
