import { RelayError } from '../failures/relay-error.ts';
import { parseJsonObject } from '../oauth/json.ts';
import type { LookupRefusal } from '../providers/provider.ts';
import type { UpstreamResponse } from './messages.ts';

/**
 * The failure that an answer of the provider means, if it says that the person or an administrator has to do something.
 * Nothing that it says is passed on: neither a text, nor the address to go to.
 */
export function refusalIn(
  { status, headers, body }: UpstreamResponse,
  refusals: readonly LookupRefusal[] = [],
): RelayError | undefined {
  if (status !== 403 || refusals.length === 0) return undefined;
  const message = parseJsonObject(body)?.['message'];
  const found = refusals.find(({ header, text }) => {
    const given = header === undefined ? message : headers[header];
    return typeof given === 'string' && given.includes(text);
  });
  return found && new RelayError(found.means);
}
