import { RelayError } from '../failures/relay-error.ts';
import { isObject, parseJson } from '../oauth/json.ts';
import type { ValueSource } from '../providers/provider.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { groupsIn, type Item, isTrueIn, joinedTextIn } from './fields.ts';

/**
 * Asks the provider with the person's access token.
 *
 * @param path relative to the user URL
 * @returns an answer with status 200, 204 or 404
 * @throws {RelayError} why there is no such answer
 */
export type Ask = (path: string) => Promise<UpstreamResponse>;

/** The most pages of one list. A provider that never stops must not keep the relay busy. */
const mostPages = 20;

/**
 * Asks for all values of a person, page by page. Unverified values are left out.
 *
 * @param areGroups whether one field can hold several values
 * @throws {RelayError} if one page cannot be read, because an incomplete list must not count as complete
 */
export async function askForValues(source: ValueSource, person: Item, ask: Ask, areGroups: boolean): Promise<string[]> {
  const { fields, from, verified, primary } = source;
  const [field = '', ...furtherFields] = fields;
  const found: string[] = [];
  for await (const item of askForItems(source, person, ask)) {
    const counts = [verified, primary].every((path) => path === undefined || isTrueIn(item, path, field));
    if (!counts) continue;
    const text = joinedTextIn(item, fields);
    // A name that is made of several fields, such as `organization/team`, needs all of them.
    if (furtherFields.length > 0 && text === undefined) throw unusableAnswer();
    if (areGroups && furtherFields.length === 0) found.push(...groupsIn(item, field, from !== undefined));
    else if (text !== undefined) found.push(text);
  }
  if (!found.every((one) => one.isWellFormed())) throw unusableAnswer();
  return [...new Set(found)];
}

/**
 * Asks for the items of a list, page by page. Without an address to ask, the only item is the user record. An answer
 * that is one record is a list of one item.
 *
 * @throws {RelayError} `provider_answer_unusable`, or why a page cannot be read
 */
export async function* askForItems({ from, items, next }: ValueSource, person: Item, ask: Ask) {
  if (from === undefined) {
    yield person;
    return;
  }
  let path: string | undefined = from;
  for (let page = 0; path !== undefined; page += 1) {
    if (page === mostPages) throw unusableAnswer();
    const response: UpstreamResponse = await ask(path);
    const answer = response.status === 200 ? parseJson(response.body) : undefined;
    const list = isObject(answer) && items !== undefined ? answer[items] : answer;
    const found = Array.isArray(list) ? list : [list];
    if (!found.every(isObject)) throw unusableAnswer();
    yield* found;
    const addressInBody = next !== undefined && isObject(answer) ? answer[next] : undefined;
    path = readNextPath(from, addressInBody ?? addressInLinkHeader(response));
  }
}

/** Reads the address of the next page in the Link header. @see RFC 8288 §3 */
function addressInLinkHeader({ headers }: UpstreamResponse): string | undefined {
  return /<([^<>]*)>\s*;[^,]*\brel="?next\b/i.exec(`${headers['link'] ?? ''}`)?.[1];
}

/**
 * Reads the path of the next page. It takes only the query of the address, because an answer of the provider must never
 * choose the host that gets the token.
 *
 * @returns undefined if there is no next page
 * @throws {RelayError} `provider_answer_unusable` if the address is not a URL
 */
function readNextPath(from: string, address: unknown): string | undefined {
  if (address === undefined) return undefined;
  const url = typeof address === 'string' ? URL.parse(address, 'https://provider.invalid') : null;
  if (url === null) throw unusableAnswer();
  return from.replace(/\?.*$/s, '') + url.search;
}

/** The failure if a provider's answer about a person cannot be used, for example because its list does not end. */
export function unusableAnswer(): RelayError {
  return new RelayError('provider_answer_unusable');
}
