import { RelayError } from '../failures/relay-error.ts';
import { isObject, parseJsonObject } from '../oauth/json.ts';
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
  const { message, error } = parseJsonObject(body) ?? {};
  const texts = [message, isObject(error) ? error['code'] : undefined];
  const found = refusals.find(({ header, text }) => {
    const given = header === undefined ? texts : [headers[header]];
    return given.some((one) => typeof one === 'string' && one.includes(text));
  });
  return found && new RelayError(found.means);
}
